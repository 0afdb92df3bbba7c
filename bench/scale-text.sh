# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154 # work and bench_source are of bench/lib.sh
#
# Of bench/scale, the programs that it generates: text of a given size, made of
# four function bodies in turn, each under the name of a C++ function of its
# own, with its unwind information; and many small shared objects.

# Bodies of about 0.25 to 2 KB that work on the caller's memory alone.
text_bodies()
{
	local i

	for i in 1 2 3 4; do
		awk -v n=$((i * i * 6)) 'BEGIN {
			print "long body(long *cells, long n);"
			print "long body(long *cells, long n)\n{\n\tlong x = n;"
			print "\tfor (long i = 0; i < n; i++) {"
			for (k = 0; k < n; k++) {
				printf "\t\tcells[(x + %d) & 63] += x ^ %d;\n", k * 5, k
				printf "\t\tif (cells[%d] & %d) x += cells[(x + i) & 63];\n", \
					k % 64, k + 1
			}
			print "\t}\n\treturn x;\n}"
		}' >"$work/body$i.c"
		gcc -O2 -c -fcf-protection=none -fno-stack-protector \
			-fno-asynchronous-unwind-tables \
			-o "$work/body$i.o" "$work/body$i.c" &&
			objcopy -O binary -j .text "$work/body$i.o" \
				"$work/body$i.bin" || return
	done
}

# text_source MB: the assembler source.
text_source()
{
	stat -c %s "$work"/body[1-4].bin | awk -v mb="$1" -v work="$work" '
	{ size[NR] = $1 }
	END {
		print ".text"
		n = 0
		for (at = 0; at < mb * 1048576; n++) {
			k = n % 4 + 1
			name = "_ZN5bench5scaleILi" n "EE3runEPll"
			print ".p2align 4\n.globl " name "\n.type " name ", @function"
			print name ":\n.cfi_startproc"
			print ".incbin \"" work "/body" k ".bin\"\n.cfi_endproc"
			print ".size " name ", .-" name
			at += size[k] + 8
		}
		print ".section .data.rel.ro, \"aw\"\n.globl text_functions"
		print "text_functions:"
		for (i = 0; i < n; i++)
			print ".quad _ZN5bench5scaleILi" i "EE3runEPll"
		print ".section .rodata\n.globl text_count\ntext_count: .quad " n
		print ".section .note.GNU-stack, \"\", @progbits"
	}'
}

# text_program MB FILE: the program with so much text in it.
text_program()
{
	[ -s "$work/body4.bin" ] || text_bodies || return
	text_source "$1" >"$work/text.s" &&
		gcc -c -o "$work/text.o" "$work/text.s" &&
		gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -pthread \
			-I"$bench_source/../tests/targets" -o "$2" \
			"$bench_source/scaled.c" "$work/text.o" &&
		rm -f "$work"/text.[so]
}

# shared_objects COUNT: makes them, as far as they are not there; their paths, sorted.
shared_objects()
{
	local i path

	mkdir -p "$work/objects" || return
	[ -s "$work/object.o" ] ||
		printf 'long object_cells[8];\nvoid object_add(long n)\n{\n%s\n}\n' \
			'	object_cells[n & 7] += object_cells[n >> 3 & 7];' |
		gcc -O2 -g -fPIC -c -x c -o "$work/object.o" - || return
	for ((i = 1; i <= $1; i++)); do
		printf -v path '%s/objects/lib%04d.so' "$work" "$i"
		[ -s "$path" ] || ld -shared -o "$path" -soname "lib$i.so" \
			--build-id="$(printf '0x%040x' "$i")" \
			"$work/object.o" || return
		echo "$path"
	done
}
