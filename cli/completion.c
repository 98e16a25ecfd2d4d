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

/* Names are the catalogue's at hand: first columns of tables that the program prints. */
#define NAMES_OF "paceline %s --format csv --table %s 2>/dev/null | tail -n +2 | cut -d, -f1"

static void print_names(const char *function) {
    printf("%s() {\n    case $1 in\n    machines) " NAMES_OF "; " NAMES_OF " ;;\n", function, "machines", "devices",
           "machines", "machines");
    printf("    models) " NAMES_OF " ;;\n    esac\n}\n", "models", "models");
}

static void print_bash(void) {
    const pace_verb *verb;
    print_names("_paceline_names");
    printf("_paceline() {\n    local words names=\n    case \"${COMP_WORDS[1]}\" in\n");
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        printf("    %s) words=\"", verb->name);
        print_bash_names(verb->name);
        printf("--help\" ;;\n");
    }
    printf("    *) words=\"");
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) printf("%s ", verb->name);
    printf("--help --version\" ;;\n    esac\n"
           "    case \"${COMP_WORDS[1]} $3\" in\n    *' --on' | *' --from' | machines*) names=machines ;;\n"
           "    'predict predict' | 'plan plan' | models*) names=models ;;\n    esac\n"
           "    if [[ $COMP_CWORD -gt 1 && $2 != -* ]]; then\n"
           "        COMPREPLY=($(compgen -f -- \"$2\") $(compgen -W \"$(_paceline_names $names)\" -- \"$2\"))\n"
           "    else\n        COMPREPLY=($(compgen -W \"$words\" -- \"$2\"))\n    fi\n}\n"
           "complete -o filenames -F _paceline paceline\n");
}

/* What an operand of a verb may be a name of; NULL = nothing that the catalogue has. */
static const char *names_of(const char *verb) {
    if (strcmp(verb, "machines") == 0) return "machines";
    return strcmp(verb, "models") == 0 || strcmp(verb, "predict") == 0 || strcmp(verb, "plan") == 0 ? "models" : NULL;
}

static bool names_machine(const pace_option *option) {
    return strcmp(option->name, "on") == 0 ||
           (strcmp(option->name, "from") == 0 && strcmp(option->argument, "FILE") != 0);
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
        printf(":_%s", names_machine(option) ? "paceline_machines" : "files");
    }
    putchar('\'');
}

static void print_zsh(void) {
    const pace_verb *verb;
    const pace_option *option;
    printf("#compdef paceline\n");
    print_names("_paceline_names");
    for (int i = 0; i < 2; i++)
        printf("_paceline_%s() {\n    compadd -- ${(f)\"$(_paceline_names %s)\"}\n    _files\n}\n",
               i ? "models" : "machines", i ? "models" : "machines");
    printf("_paceline() {\n    local -a verbs\n    verbs=(\n");
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
        const char *names = names_of(verb->name);
        printf(" \\\n            '(- *)'{-h,--help}'[show the options]' '*:input:_%s%s' ;;\n",
               names ? "paceline_" : "files", names ? names : "");
    }
    printf("    *) _files ;;\n    esac\n}\n_paceline \"$@\"\n");
}

static void print_fish_option(const char *verb, const pace_option *option) {
    char name[64];
    printf("complete -c paceline -n '__fish_seen_subcommand_from %s' -l %s", verb, cli_option_name(name, option) + 2);
    if (option->letter) printf(" -s %c", option->letter);
    if (option->argument) printf(" -r");
    if (names_machine(option)) printf(" -a '(_paceline_names machines)'");
    printf(" -d '");
    print_quoted(option->help, "\\");
    printf("'\n");
}

static void print_fish(void) {
    const pace_verb *verb;
    const pace_option *option;
    printf("function _paceline_names\n    switch $argv[1]\n        case machines\n            " NAMES_OF
           "\n            " NAMES_OF "\n        case models\n            " NAMES_OF "\n    end\nend\n",
           "machines", "devices", "machines", "machines", "models", "models");
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        printf("complete -c paceline -n __fish_use_subcommand -f -a %s -d '", verb->name);
        print_quoted(verb->summary, "\\");
        printf("'\n");
        if (names_of(verb->name))
            printf("complete -c paceline -n '__fish_seen_subcommand_from %s' -a '(_paceline_names %s)'\n", verb->name,
                   names_of(verb->name));
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
