" SPDX-License-Identifier: GPL-3.0-or-later
" Compiler plugin for Vim: races as quickfix entries. Copy it to
" ~/.vim/compiler/racewatch.vim; then
"
"	:compiler racewatch
"	:make ./test
"
" The second place of a race is in the entry's text; the cursor on it, gF opens it.

if exists('current_compiler')
	finish
endif
let current_compiler = 'racewatch'

if exists(':CompilerSet') != 2
	command -nargs=* CompilerSet setlocal <args>
endif

CompilerSet makeprg=racewatch\ run\ -q\ --format\ line\ --
CompilerSet errorformat=%f:%l:%c:\ %tarning:\ %m\ [racewatch],
	\%f:%l:\ %tarning:\ %m\ [racewatch],
	\%f:\ %tarning:\ %m\ [racewatch],
	\%-G%.%#
