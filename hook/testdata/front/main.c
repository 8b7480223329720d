/* Runs calls() of this program, or of the plug-in named by argument 2, opened
 * as Python opens its modules. */
#include <dlfcn.h>
#include <stdio.h>

#ifdef PLUGIN_ONLY
static void (*calls)(const char *);
#else
void calls(const char *what);
#endif

int main(int argc, char **argv)
{
    (void)argc;
#ifdef PLUGIN_ONLY
    void *h = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (!h || !(*(void **)&calls = dlsym(h, "calls"))) {
        puts(dlerror());
        return 9;
    }
#endif
    calls(argv[1]);
    return 5;
}
