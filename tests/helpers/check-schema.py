#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether reports are as the JSON Schema says, and the schema as the manual.

check-schema.py SCHEMA MANUAL REPORT...

Every line of the reports must be valid, and have all members that the schema
lists for it and no other: what render-json writes is all there is, and all of
it always. What the schema lists must be in racewatch-json(5), and the other
way round. Exit status 0: so it is; 1: not, with reasons on standard error.
"""

import json
import re
import sys

import jsonschema

failed = False


def complain(text):
    global failed
    failed = True
    print(text, file=sys.stderr)


def resolve(schema, part):
    """The objects that a part of the schema can be."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in part:
        return [o for one in part["anyOf"] for o in resolve(schema, one)]
    return [part] if "properties" in part or "items" in part else []


def compare_members(schema, part, value, where):
    for one in resolve(schema, part):
        if isinstance(value, list) and "items" in one:
            for i, item in enumerate(value):
                compare_members(schema, one["items"], item, f"{where}[{i}]")
        elif isinstance(value, dict) and "properties" in one:
            for name in sorted(set(value) ^ set(one["properties"])):
                complain(
                    f"{where}: '{name}' is "
                    + ("not in the schema" if name in value else "missing")
                )
            for name in set(value) & set(one["properties"]):
                compare_members(
                    schema, one["properties"][name], value[name], f"{where}.{name}"
                )


def check_report(schema, validator, path):
    seen = {}
    with open(path, encoding="utf-8") as report:
        for number, line in enumerate(report, 1):
            record = json.loads(line)
            where = f"{path}:{number}"
            for error in validator.iter_errors(record):
                complain(f"{where}: {error.json_path}: {error.message[:200]}")
            kind = record.get("type")
            seen[kind] = seen.get(kind, 0) + 1
            if kind in schema["$defs"]:
                compare_members(schema, {"$ref": f"/{kind}"}, record, where)
            else:
                complain(f"{where}: the schema has no type '{kind}'")
    return seen


def schema_members(part):
    """Every member that is named anywhere in the schema."""
    names = set()
    if isinstance(part, dict):
        names |= set(part.get("properties", {}))
        for value in part.values():
            names |= schema_members(value)
    elif isinstance(part, list):
        for value in part:
            names |= schema_members(value)
    return names


def manual_members(path):
    """What is marked .Va, or follows it on a heading."""
    names = set()
    with open(path, encoding="utf-8") as manual:
        for line in manual:
            for words in re.findall(r"(?:^\.|\s)Va ([^\n]*)", line):
                names |= set(re.findall(r"\b[a-z_]+\b", words.replace("Va", "")))
    return names


def main():
    schema_path, manual_path, *reports = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in sorted(schema_members(schema) ^ manual_members(manual_path)):
        complain(f"'{name}' is only in one of {schema_path} and {manual_path}")
    total = {}
    for path in reports:
        for kind, count in check_report(schema, validator, path).items():
            total[kind] = total.get(kind, 0) + count
    print(" ".join(f"{kind}={total[kind]}" for kind in sorted(total)))
    return failed


sys.exit(main())
