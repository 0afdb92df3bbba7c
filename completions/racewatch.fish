# SPDX-License-Identifier: GPL-3.0-or-later
#
# fish completion for racewatch: a line for each option of each command.

complete -c racewatch -f
complete -c racewatch -n '__fish_use_subcommand' -a run -d 'Start a program and watch it'
complete -c racewatch -n '__fish_use_subcommand' -a sites -d 'List what can be sampled'

complete -c racewatch -n '__fish_use_subcommand' -s h -l help -d 'Print a summary'
complete -c racewatch -n '__fish_use_subcommand' -s V -l version -d 'Print the version'
complete -c racewatch -n '__fish_use_subcommand' -l dump-options -d 'Print every option of every command'

complete -c racewatch -n '__fish_seen_subcommand_from run' -l seed -x -d 'Number that the choices are made from'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l rate -x -d 'Samples in a second'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l stall -x -d 'Longest stall'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l duration -x -d 'Stop watching after this time'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l timeout -x -d 'Kill the program after this time'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l backend -x -a 'auto perf perf-cpu ptrace value' -d 'How accesses are noticed'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l include -x -d 'Sample this module, function or file too'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l exclude -x -d 'Do not sample this module, function or file'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l include-stack -d 'Sample accesses to the stack too'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l no-aslr -d 'Without address-space randomization'
complete -c racewatch -n '__fish_seen_subcommand_from run' -s o -l output -r -F -d 'Write JSON lines to this file'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l show -x -a 'default all' -d 'Races to print in full'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l error-exitcode -x -d 'Exit status when a race was reported'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l halt-on-race -d 'Stop at the first race'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l min-samples -x -d 'Fail when fewer samples were taken'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l color -x -a 'auto always never' -d 'Colours in the text'
complete -c racewatch -n '__fish_seen_subcommand_from run' -s q -l quiet -d 'Print races only'
complete -c racewatch -n '__fish_seen_subcommand_from run' -s v -l verbose -d 'Say more'
complete -c racewatch -n '__fish_seen_subcommand_from run' -l debug -x -a 'image sys target watch detect report all' -d 'Print what racewatch does inside'
complete -c racewatch -n '__fish_seen_subcommand_from run' -s h -l help -d 'Print the options'
complete -c racewatch -n '__fish_seen_subcommand_from run' -s V -l version -d 'Print the version'
complete -c racewatch -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand --fcs-skip=2)'

complete -c racewatch -n '__fish_seen_subcommand_from sites' -l list -d 'Print each site'
complete -c racewatch -n '__fish_seen_subcommand_from sites' -l format -x -a 'text json' -d 'Output format'
complete -c racewatch -n '__fish_seen_subcommand_from sites' -l include -x -d 'Count this module, function or file too'
complete -c racewatch -n '__fish_seen_subcommand_from sites' -l exclude -x -d 'Leave out this module, function or file'
complete -c racewatch -n '__fish_seen_subcommand_from sites' -l include-stack -d 'Count accesses to the stack too'
complete -c racewatch -n '__fish_seen_subcommand_from sites' -s h -l help -d 'Print the options'
complete -c racewatch -n '__fish_seen_subcommand_from sites' -s V -l version -d 'Print the version'
complete -c racewatch -n '__fish_seen_subcommand_from sites' -F -a '(__fish_complete_pids)'
