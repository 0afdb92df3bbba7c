/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/image.c: the modules of this very process, as libraries come and
 * go and their files vanish.
 */
#include "image/image.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/maps.h"
#include "image/symbols.h"
#include "sample.h"

static int own_variable;

static bool refresh(struct image *image)
{
	bool changed = false;
	struct error *err = image_refresh(image, &changed);

	if (err)
		fail_msg("%s", error_message(err));
	return changed;
}

static struct image *own_image(void)
{
	struct image *image;

	assert_null(image_create(getpid(), &image));
	assert_int_equal(image_modules(image)->count, 0);
	assert_true(refresh(image));
	return image;
}

static struct module *module_named(const struct image *image, const char *name)
{
	const struct vec *modules = image_modules(image);

	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (strcmp(module->name, name) == 0)
			return module;
	}
	return NULL;
}

static void own_modules(void **state)
{
	struct image *image = own_image();
	const struct vec *modules = image_modules(image);
	uint64_t code = (uintptr_t)own_modules;
	struct module *main_module = image_module_at(image, code);
	struct module *loader = image_module_at(image, getauxval(AT_BASE));
	struct module *vdso =
		image_module_at(image, getauxval(AT_SYSINFO_EHDR));
	const struct elf_function *function;
	uint64_t end = 0;

	(void)state;
	assert_true(main_module->main);
	assert_false(main_module->loader || main_module->vdso);
	assert_ptr_equal(image_module_at(image, (uintptr_t)&own_variable),
			 main_module);
	function = elftext_function_at(main_module->text,
				       code - main_module->bias);
	assert_string_equal(function->name, "own_modules");
	assert_true(loader->loader && !loader->main);
	assert_true(vdso->vdso);
	assert_string_equal(vdso->path, "[vdso]");
	assert_null(image_module_at(image, 0));
	assert_null(image_module_at(image, (uintptr_t)&image));
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		assert_true(module->start >= end &&
			    module->end > module->start);
		end = module->end;
		assert_int_equal(module->main, module == main_module);
	}
	image_destroy(image);
}

static size_t count_read(const struct image *image)
{
	const struct vec *modules = image_modules(image);
	size_t count = 0;

	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		count += module->text && elftext_is_read(module->text);
	}
	return count;
}

/* Thousands of symbols must not delay what needs those of one module. */
static void modules_are_read_when_asked(void **state)
{
	struct image *image = own_image();
	uint64_t code = (uintptr_t)modules_are_read_when_asked;
	const struct elf_function *function;
	const struct module *module;

	(void)state;
	assert_true(image_modules(image)->count > 2);
	assert_int_equal(count_read(image), 0);
	assert_false(refresh(image));
	assert_int_equal(count_read(image), 0);
	/* what is known by the headers alone */
	for (size_t i = 0; i < image_modules(image)->count; i++) {
		module = *(struct module **)vec_at(image_modules(image), i);
		assert_ptr_equal(image_module_at(image, module->start), module);
		elftext_build_id(module->text);
		elftext_soname(module->text);
	}
	assert_int_equal(count_read(image), 0);
	module = image_module_at(image, code);
	function = elftext_function_at(module->text, code - module->bias);
	assert_string_equal(function->name, "modules_are_read_when_asked");
	assert_true(elftext_is_read(module->text));
	assert_int_equal(count_read(image), 1);
	image_destroy(image);
}

static void libraries_come_and_go(void **state)
{
	const struct code_frame *last;
	char *path = sample_path("data.so");
	struct image *image = own_image();
	struct module *main_module =
		image_module_at(image, (uintptr_t)libraries_come_and_go);
	uint64_t main_id = main_module->id;
	struct vec frames = VEC_INIT(struct code_frame);
	struct module *module;
	uint64_t first_id;
	void *library;

	(void)state;
	assert_false(refresh(image));
	assert_null(module_named(image, "data.so"));
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	assert_true(refresh(image));
	module = module_named(image, "data.so");
	assert_non_null(module);
	assert_ptr_equal(image_module_at(image,
					 (uintptr_t)dlsym(library, "next_id")),
			 module);
	assert_ptr_equal(image_module_at(image,
					 (uintptr_t)dlsym(library, "shards")),
			 module);
	first_id = module->id;
	/* debug information in use must not outlive the module */
	assert_null(symbols_frames(image, (uintptr_t)dlsym(library, "next_id"),
				   false, &frames));
	assert_false(refresh(image));
	assert_int_equal(dlclose(library), 0);
	assert_true(refresh(image));
	assert_null(module_named(image, "data.so"));
	assert_ptr_equal(image_module_at(image,
					 (uintptr_t)libraries_come_and_go),
			 main_module);
	assert_int_equal(main_module->id, main_id);
	code_frames_clear(&frames);
	assert_null(symbols_frames(image, (uintptr_t)libraries_come_and_go,
				   false, &frames));
	library = dlopen(path, RTLD_NOW);
	assert_true(refresh(image));
	assert_true(module_named(image, "data.so")->id > first_id);
	assert_null(symbols_frames(image, (uintptr_t)dlsym(library, "next_id"),
				   false, &frames));
	last = vec_at(&frames, frames.count - 1);
	assert_string_equal(last->function, "next_id");
	dlclose(library);
	code_frames_clear(&frames);
	vec_deinit(&frames);
	image_destroy(image);
	free(path);
}

/* A copy of data.so at a path of its own. */
static void copy_library(const char *to)
{
	char *path = sample_path("data.so");
	size_t size;
	uint8_t *bytes = sample_read(path, &size);
	FILE *file = fopen(to, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	free(bytes);
	free(path);
}

static void file_deleted_or_replaced(void **state)
{
	char folder[] = "/tmp/racewatch-test-XXXXXX";
	char path[64];
	struct image *image;
	struct module *module;
	void *library;
	FILE *file;

	(void)state;
	if (geteuid() != 0)
		skip(); /* /proc/PID/map_files needs more than ptrace does */
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/gone.so", folder);
	copy_library(path);
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	assert_int_equal(unlink(path), 0);
	/* something else now has its name */
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	image = own_image();
	module = module_named(image, "gone.so");
	assert_non_null(module);
	assert_string_equal(module->path, path);
	assert_non_null(module->text);
	assert_string_equal(elftext_soname(module->text), "libdata.so.1");
	dlclose(library);
	unlink(path);
	rmdir(folder);
	image_destroy(image);
}

/* What is mapped executable and no ELF file: a module with a problem. */
static void unreadable_module(void **state)
{
	char path[] = "/tmp/racewatch-test-XXXXXX";
	int fd = mkstemp(path);
	struct image *image;
	struct module *module;
	void *bytes;

	(void)state;
	assert_int_equal(ftruncate(fd, 8192), 0);
	bytes = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(bytes != MAP_FAILED);
	image = own_image();
	module = image_module_at(image, (uintptr_t)bytes + 4096);
	assert_non_null(module);
	assert_null(module->text);
	assert_non_null(strstr(module->problem, "not an ELF file"));
	assert_non_null(strstr(module->problem, path));
	assert_false(refresh(image));
	munmap(bytes, 8192);
	assert_true(refresh(image));
	image_destroy(image);
	close(fd);
	unlink(path);
}

/* The text of this program once more, as V8 does with its built-in functions. */
static void part_mapped_twice(void **state)
{
	uint64_t page = (uintptr_t)part_mapped_twice & ~UINT64_C(4095);
	struct image *image = own_image();
	struct module *own = image_module_at(image, page);
	const struct map_entry *entry = maps_find(image_maps(image), page);
	uint64_t offset = entry->offset + (page - entry->start);
	size_t count = image_modules(image)->count;
	struct module *part;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *bytes = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			   (off_t)offset);

	(void)state;
	assert_true(bytes != MAP_FAILED);
	assert_true(refresh(image));
	assert_int_equal(image_modules(image)->count, count + 1);
	assert_ptr_equal(image_module_at(image, page), own);
	part = image_module_at(image, (uintptr_t)bytes);
	assert_null(part->text);
	assert_int_equal(part->start, (uintptr_t)bytes);
	assert_int_equal(part->end, (uintptr_t)bytes + 4096);
	assert_non_null(strstr(part->problem, "once more"));
	assert_false(refresh(image));
	image_destroy(image);
	/* it may also be met first */
	image = own_image();
	assert_int_equal(image_modules(image)->count, count + 1);
	assert_non_null(image_module_at(image, page)->text);
	assert_null(image_module_at(image, (uintptr_t)bytes)->text);
	image_destroy(image);
	munmap(bytes, 4096);
	close(fd);
}

static void single_file(void **state)
{
	char *path = sample_path("data.so");
	struct image *image;
	struct module *module;
	struct error *err;

	(void)state;
	assert_null(image_create_file(path, &image));
	assert_int_equal(image_modules(image)->count, 1);
	module = *(struct module **)vec_at(image_modules(image), 0);
	assert_string_equal(module->name, "data.so");
	assert_int_equal(module->bias, 0);
	assert_false(refresh(image));
	assert_int_equal(image_modules(image)->count, 1);
	image_destroy(image);
	free(path);
	err = image_create_file("/nonexistent", &image);
	assert_non_null(err);
	error_free(err);
}

/* A sample and its debug file, copied into a folder. */
struct linked {
	char folder[64];
	char *program, *debug, *other;
};

static void copy_file(const char *from, const char *to)
{
	size_t size;
	uint8_t *bytes = sample_read(from, &size);
	FILE *file = fopen(to, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, size, 1, file), 1);
	assert_int_equal(fclose(file), 0);
	free(bytes);
}

static void linked_create(struct linked *ret)
{
	char *program = sample_path("stack.linked");
	char *debug = sample_path(".debug/stack.linked.debug");

	strcpy(ret->folder, "/tmp/racewatch-image.XXXXXX");
	assert_non_null(mkdtemp(ret->folder));
	assert_true(asprintf(&ret->program, "%s/program", ret->folder) > 0);
	assert_true(asprintf(&ret->debug, "%s/stack.linked.debug",
			     ret->folder) > 0);
	assert_true(asprintf(&ret->other, "%s/other", ret->folder) > 0);
	copy_file(program, ret->program);
	copy_file(debug, ret->debug);
	copy_file(debug, ret->other);
	free(program);
	free(debug);
}

static void linked_destroy(struct linked *linked)
{
	unlink(linked->program);
	unlink(linked->debug);
	unlink(linked->other);
	assert_int_equal(rmdir(linked->folder), 0);
	free(linked->program);
	free(linked->debug);
	free(linked->other);
}

/* Has its code a line, after the debug file was found, and maybe replaced? */
static bool has_line(bool replaced)
{
	char *path = sample_path("stack.O2");
	uint64_t address = sample_symbol(path, "middle").st_value;
	struct vec frames = VEC_INIT(struct code_frame);
	struct linked linked;
	struct module *module;
	struct image *image;
	bool has;

	linked_create(&linked);
	assert_null(image_create_file(linked.program, &image));
	module = *(struct module **)vec_at(image_modules(image), 0);
	assert_string_equal(elftext_debug_path(module->text), linked.debug);
	/* of the same contents: that is not looked at */
	if (replaced)
		assert_int_equal(rename(linked.other, linked.debug), 0);
	assert_null(symbols_frames(image, address, false, &frames));
	assert_string_equal(((struct code_frame *)vec_at(&frames, 0))->function,
			    "middle");
	has = ((struct code_frame *)vec_at(&frames, 0))->line > 0;
	code_frames_clear(&frames);
	vec_deinit(&frames);
	image_destroy(image);
	linked_destroy(&linked);
	free(path);
	return has;
}

static void a_debug_file_replaced_since_is_not_read(void **state)
{
	(void)state;
	assert_true(has_line(false));
	assert_false(has_line(true));
}

static void exited_process(void **state)
{
	struct image *image;
	bool changed;
	int pid = fork();

	(void)state;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_null(image_create(pid, &image));
	assert_true(refresh(image));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_ptr_equal(image_refresh(image, &changed), error_gone);
	assert_true(image_modules(image)->count > 0);
	image_destroy(image);
}

/* Another process of this very program, which is all loaded. */
static pid_t execute_again(void)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		execl("/proc/self/exe", "test_image", "wait", NULL);
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Of the code at that offset of the executable, in whatever process it is. */
static void assert_named(struct image *image, const struct module *module,
			 uint64_t offset, const char *name)
{
	struct vec frames = VEC_INIT(struct code_frame);

	assert_null(
		symbols_frames(image, offset + module->bias, false, &frames));
	assert_string_equal(((struct code_frame *)vec_at(&frames, 0))->function,
			    name);
	code_frames_clear(&frames);
	vec_deinit(&frames);
}

static void another_execution_takes_modules_over(void **state)
{
	struct image *own = own_image(), *image;
	uint64_t code = (uintptr_t)another_execution_takes_modules_over;
	uint64_t offset = code - image_module_at(own, code)->bias;
	pid_t before = execute_again(), after = execute_again();
	struct module *module, *libc;
	uint64_t id;
	struct stat status;

	(void)state;
	assert_null(image_create(before, &image));
	assert_true(refresh(image));
	module = module_named(image, image_module_at(own, code)->name);
	libc = module_named(image, "libc.so.6");
	id = module->id;
	assert_null(elftext_read(module->text));
	assert_named(image, module, offset, __func__);
	end_process(before);
	assert_int_equal(stat("/proc/self/exe", &status), 0);
	assert_true(image_runs_file(image, &status));
	status.st_size++;
	assert_false(image_runs_file(image, &status));
	image_take_over(image, after);
	refresh(image);
	assert_ptr_equal(module_named(image, image_module_at(own, code)->name),
			 module);
	assert_ptr_equal(module_named(image, "libc.so.6"), libc);
	assert_int_equal(module->id, id);
	assert_true(elftext_is_read(module->text));
	/* where this process has it, by its maps */
	image_destroy(own);
	assert_null(image_create(after, &own));
	assert_true(refresh(own));
	for (size_t i = 0; i < image_modules(own)->count; i++) {
		const struct module *fresh =
			*(struct module **)vec_at(image_modules(own), i);
		const struct module *moved =
			image_module_at(image, fresh->start);

		assert_non_null(moved);
		assert_int_equal(moved->bias, fresh->bias);
		assert_int_equal(moved->end, fresh->end);
		assert_string_equal(moved->path, fresh->path);
	}
	assert_named(image, module, offset, __func__);
	/* from now on it is an image like another */
	assert_false(refresh(image));
	image_destroy(own);
	image_destroy(image);
	end_process(after);
}

/* To wait for its end: for execute_again(). */
static void wait_as_told(void)
{
	if (write(STDOUT_FILENO, "x", 1) == 1)
		pause();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_modules),
		cmocka_unit_test(modules_are_read_when_asked),
		cmocka_unit_test(libraries_come_and_go),
		cmocka_unit_test(file_deleted_or_replaced),
		cmocka_unit_test(unreadable_module),
		cmocka_unit_test(part_mapped_twice),
		cmocka_unit_test(single_file),
		cmocka_unit_test(a_debug_file_replaced_since_is_not_read),
		cmocka_unit_test(exited_process),
		cmocka_unit_test(another_execution_takes_modules_over),
	};

	if (argc > 1 && strcmp(argv[1], "wait") == 0) {
		wait_as_told();
		return 1;
	}

	return cmocka_run_group_tests(tests, NULL, NULL);
}
