/* Preloaded into a test's process: a flush of a file to the disk waits as long as the file named HELD exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_while_held(void) {
    const char *held = getenv("HELD");
    while (held && access(held, F_OK) == 0) usleep(2000);
}

int fsync(int fd) {
    wait_while_held();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
    wait_while_held();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
