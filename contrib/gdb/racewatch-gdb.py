# SPDX-License-Identifier: GPL-3.0-or-later
"""gdb commands for the races that racewatch has saved as JSON lines.

    (gdb) source .../racewatch-gdb.py
    (gdb) racewatch load races.jsonl
    (gdb) racewatch list
    (gdb) racewatch show 1
    (gdb) racewatch goto 1

In a process that `racewatch --on-race stop' has left stopped, or in the core
of `--on-race core', goto selects the threads of the race and the frames where
they raced. In any other program it sets breakpoints at both accesses.
"""

import json
import os

import gdb


class Report:
    """What a file has: races by number, and crashes."""

    def __init__(self):
        self.races = {}
        self.crashes = []

    def load(self, path):
        """Later records of a race take the place of earlier ones."""
        skipped = 0
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    self.take(json.loads(line))
                except (AttributeError, KeyError, TypeError, ValueError):
                    # a report that was cut short lacks the end of a line
                    skipped += 1
        return skipped

    def take(self, record):
        if record.get("type") == "race":
            if len(record["sides"]) != 2:
                raise ValueError("a race has two sides")
            self.races[int(record["id"])] = record
        elif record.get("type") == "crash":
            self.crashes.append(record)

    def race(self, word):
        try:
            return self.races[int(word, 0)]
        except (KeyError, ValueError):
            raise gdb.GdbError("There is no race %s; see racewatch list."
                               % word)


report = Report()


def place(frame):
    """As gdb takes it for a breakpoint, or None."""
    if frame.get("file") and frame.get("line"):
        return "%s:%d" % (os.path.basename(frame["file"]), frame["line"])
    return frame.get("function")


def frame_text(frame):
    name = frame.get("function") or "%s+%s" % (
        os.path.basename(frame.get("module") or "?"), frame.get("offset"))
    if frame.get("file"):
        return "%s (%s:%s)" % (name, os.path.basename(frame["file"]),
                               frame.get("line") or "?")
    return name


def side_text(side):
    frames = side.get("frames") or []
    return "%s in %s" % (side.get("access") or "access",
                         frame_text(frames[0]) if frames else "?")


def variable_text(race):
    variable = race.get("variable") or {}
    return (variable.get("name") or variable.get("symbol") or
            race.get("address") or "?")


def print_race(race):
    gdb.write("#%d %s of %s, seen %s times (%s)\n" % (
        race["id"], race.get("kind"), variable_text(race),
        race.get("count"), race.get("verdict")))
    for side in race["sides"]:
        gdb.write("     %s\n" % side_text(side))


def side_thread(side):
    """The thread of this side, if this is the process or core of the race."""
    for inferior in gdb.inferiors():
        if inferior.pid != side.get("pid"):
            continue
        for thread in inferior.threads():
            # a core made by some kernels has no id of its threads but one
            if thread.ptid[1] == side.get("tid"):
                return thread
    return None


def frame_is(frame, wanted):
    if wanted.get("function") and frame.name():
        return frame.name() == wanted["function"].split("(")[0]
    return False


def select_side(side):
    """Select the thread, and in it the frame that raced. False: not there."""
    thread = side_thread(side)
    if thread is None:
        return False
    thread.switch()
    frames = side.get("frames") or []
    frame = gdb.newest_frame()
    frame.select()
    while frame is not None and frames:
        if frame_is(frame, frames[0]):
            frame.select()
            break
        frame = frame.older()
    return True


def say_side(number, side):
    gdb.write("side %d, thread %s %s: %s\n" % (
        number, side.get("tid"), side.get("role") or "", side_text(side)))


class RaceCommand(gdb.Command):
    """Races that racewatch has found: load, list, show, goto."""

    def __init__(self):
        super().__init__("racewatch", gdb.COMMAND_USER, prefix=True)


class RaceLoad(gdb.Command):
    """Read races from a report: racewatch load FILE."""

    def __init__(self):
        super().__init__("racewatch load", gdb.COMMAND_FILES,
                         gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if len(words) != 1:
            raise gdb.GdbError("racewatch load takes a file.")
        before = len(report.races)
        try:
            skipped = report.load(os.path.expanduser(words[0]))
        except OSError as error:
            raise gdb.GdbError("%s: %s" % (words[0], error.strerror))
        count = len(report.races) - before
        gdb.write("%d race%s\n" % (count, "" if count == 1 else "s"))
        if skipped:
            gdb.write("%d lines are no records of racewatch\n" % skipped)


class RaceList(gdb.Command):
    """List the races that were loaded."""

    def __init__(self):
        super().__init__("racewatch list", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        if not report.races:
            gdb.write("no races (racewatch load FILE reads them)\n")
        for number in sorted(report.races):
            print_race(report.races[number])
        for crash in report.crashes:
            frames = crash.get("frames") or []
            gdb.write("crash: signal %s in %s\n" % (
                crash.get("signal"),
                frame_text(frames[0]) if frames else "?"))


class RaceShow(gdb.Command):
    """Print both stacks of a race: racewatch show NUMBER."""

    def __init__(self):
        super().__init__("racewatch show", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        race = report.race(argument.strip())
        print_race(race)
        for number, side in enumerate(race["sides"]):
            say_side(number, side)
            for level, frame in enumerate(side.get("frames") or []):
                gdb.write("  #%d %s\n" % (level, frame_text(frame)))
            for frame in side.get("created") or []:
                gdb.write("  created in %s\n" % frame_text(frame))


class RaceGoto(gdb.Command):
    """Go to a race: racewatch goto NUMBER [SIDE].
In the process or core of that moment, select the thread of side 0 (the
stalled one, the default) or 1, and the frame that raced. Elsewhere, set
breakpoints at both accesses."""

    def __init__(self):
        super().__init__("racewatch goto", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if not words or len(words) > 2 or words[1:] not in ([], ["0"], ["1"]):
            raise gdb.GdbError("racewatch goto takes a number, and 0 or 1.")
        race = report.race(words[0])
        side = int(words[1]) if len(words) == 2 else 0
        if side_thread(race["sides"][side]) is None:
            self.break_at(race)
            return
        # the other one first: the last that is selected stays so
        for number in (1 - side, side):
            if select_side(race["sides"][number]):
                say_side(number, race["sides"][number])
                gdb.execute("frame")

    @staticmethod
    def break_at(race):
        for side in race["sides"]:
            frames = side.get("frames") or []
            where = place(frames[0]) if frames else None
            if where:
                gdb.Breakpoint(where)
            else:
                gdb.write("no place is known of: %s\n" % side_text(side))


RaceCommand()
RaceLoad()
RaceList()
RaceShow()
RaceGoto()
