/* Completions for shells, from the library's table of options. */
#include "say.h"
#include "verb.h"

#include <stdio.h>
#include <string.h>

/* Text within single quotes. Zsh also reads brackets and colons within them; `special` get a backslash. */
static void print_quoted(const char *text, const char *special) {
    for (const char *c = text; *c; c++) {
        if (*c == '\'') printf("'\\''");
        else printf(strchr(special, *c) ? "\\%c" : "%c", *c);
    }
}

static void print_bash_names(const char *verb) {
    const pace_option *option;
    char name[64];
    for (size_t i = 0; (option = pace_option_at(verb, i)); i++) printf("%s ", cli_option_name(name, option));
}

static void print_bash(void) {
    const pace_verb *verb;
    printf("_paceline() {\n    local words\n    case \"${COMP_WORDS[1]}\" in\n");
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        printf("    %s) words=\"", verb->name);
        print_bash_names(verb->name);
        printf("--help\" ;;\n");
    }
    printf("    *) words=\"");
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) printf("%s ", verb->name);
    printf("--help --version\" ;;\n    esac\n"
           "    if [[ $COMP_CWORD -gt 1 && $2 != -* ]]; then\n        COMPREPLY=($(compgen -f -- \"$2\"))\n"
           "    else\n        COMPREPLY=($(compgen -W \"$words\" -- \"$2\"))\n    fi\n}\n"
           "complete -o filenames -F _paceline paceline\n");
}

/* One option of _arguments: '*--on[a machine]:DEVICE:_files'. With a letter it is two. */
static void print_zsh_option(const pace_option *option) {
    char name[64];
    cli_option_name(name, option);
    const char *repeats = option->type == PACE_OPTION_LIST ? "*" : "";
    if (option->letter) printf(" \\\n            '%s'{-%c,%s}'[", repeats, option->letter, name);
    else printf(" \\\n            '%s%s[", repeats, name);
    print_quoted(option->help, "[]\\");
    putchar(']');
    if (option->argument) {
        putchar(':');
        print_quoted(option->argument, ":\\");
        printf(":_files");
    }
    putchar('\'');
}

static void print_zsh(void) {
    const pace_verb *verb;
    const pace_option *option;
    printf("#compdef paceline\n_paceline() {\n    local -a verbs\n    verbs=(\n");
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        printf("        '%s:", verb->name);
        print_quoted(verb->summary, ":\\");
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n    fi\n"
           "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n");
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        printf("    %s)\n        _arguments", verb->name);
        for (size_t k = 0; (option = pace_option_at(verb->name, k)); k++) print_zsh_option(option);
        printf(" \\\n            '(- *)'{-h,--help}'[show the options]' '*:input:_files' ;;\n");
    }
    printf("    *) _files ;;\n    esac\n}\n_paceline \"$@\"\n");
}

static void print_fish_option(const char *verb, const pace_option *option) {
    char name[64];
    printf("complete -c paceline -n '__fish_seen_subcommand_from %s' -l %s", verb, cli_option_name(name, option) + 2);
    if (option->letter) printf(" -s %c", option->letter);
    if (option->argument) printf(" -r");
    printf(" -d '");
    print_quoted(option->help, "\\");
    printf("'\n");
}

static void print_fish(void) {
    const pace_verb *verb;
    const pace_option *option;
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        printf("complete -c paceline -n __fish_use_subcommand -f -a %s -d '", verb->name);
        print_quoted(verb->summary, "\\");
        printf("'\n");
        for (size_t k = 0; (option = pace_option_at(verb->name, k)); k++) print_fish_option(verb->name, option);
    }
    printf("complete -c paceline -l help -s h -d 'show the options'\n"
           "complete -c paceline -n __fish_use_subcommand -l version -d 'show the version'\n");
}

int cli_completion(const char *shell) {
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; shell && i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shell, shells[i].name) != 0) continue;
        shells[i].print();
        return CLI_DONE;
    }
    cli_say("paceline completion: expected bash, zsh or fish, found '%.80s'", shell ? shell : "");
    return CLI_USAGE;
}
