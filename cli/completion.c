/* Completions for shells, from the library's table of options. */
#include "output.h"
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

/* What an operand of a verb may be a name of; NULL = nothing that the catalogue has. */
static const char *names_of(const char *verb) {
    static const char *const of_models[] = {"models", "predict", "plan", "train", "convert"};
    for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++)
        if (strcmp(verb, of_models[i]) == 0) return "models";
    return strcmp(verb, "machines") == 0 ? "machines" : NULL;
}

/* Words that an operand may be, beside or instead of names. */
static const struct {
    const char *verb, *words;
} operands[] = {{"calibrate", "cpu cuda neurons"}, {"completion", "bash zsh fish"}};
enum { OPERANDS = sizeof operands / sizeof *operands };

static const char *operand_words(const char *verb) {
    for (int i = 0; i < OPERANDS; i++)
        if (strcmp(verb, operands[i].verb) == 0) return operands[i].words;
    return NULL;
}

static void print_verbs(void) {
    const pace_verb *verb;
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) printf("%s%s", i ? " " : "", verb->name);
}

/* Of the names of approaches, which are the catalogue's. */
static pace_context *names_at;

static void print_words(const char *verb, const char *option) {
    const char *word;
    for (size_t i = 0; (word = pace_option_word(names_at, verb, option, i)); i++) printf("%s%s", i ? " " : "", word);
}

/* Options whose values are words, and verbs that take words. */
static void print_bash_words(void) {
    const pace_verb *verb;
    const pace_option *option;
    char name[64];
    for (size_t i = 0; (verb = pace_verb_at(i)); i++)
        for (size_t k = 0; (option = pace_option_at(verb->name, k)); k++) {
            if (!pace_option_word(names_at, verb->name, option->name, 0)) continue;
            printf("    '%s %s'", verb->name, cli_option_name(name, option));
            if (option->letter) printf(" | '%s -%c'", verb->name, option->letter);
            printf(") values=\"");
            print_words(verb->name, option->name);
            printf("\" ;;\n");
        }
    for (int i = 0; i < OPERANDS; i++)
        printf("    '%s %s') values=\"%s\" ;;\n", operands[i].verb, operands[i].verb, operands[i].words);
    printf("    'man man') values=\"");
    print_verbs();
    printf("\" ;;\n");
}

static void print_bash(void) {
    const pace_verb *verb;
    print_names("_paceline_names");
    printf("_paceline() {\n    local words names= values=\n    case \"${COMP_WORDS[1]}\" in\n");
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        printf("    %s) words=\"", verb->name);
        print_bash_names(verb->name);
        printf("--help\" ;;\n");
    }
    printf("    *) words=\"");
    print_verbs();
    printf(" man completion --help --version\" ;;\n    esac\n    case \"${COMP_WORDS[1]} $3\" in\n");
    print_bash_words();
    for (size_t i = 0; (verb = pace_verb_at(i)); i++)
        if (names_of(verb->name)) printf("    '%s %s') names=%s ;;\n", verb->name, verb->name, names_of(verb->name));
    printf(
        "    *' --on' | *' --from') names=machines ;;\n    esac\n"
        "    if [[ -n $values ]]; then\n        mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$2\")\n"
        "    elif [[ $COMP_CWORD -gt 1 && $2 != -* ]]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -f -- \"$2\"; compgen -W \"$(_paceline_names $names)\" -- \"$2\")\n"
        "    else\n        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$2\")\n    fi\n}\n"
        "complete -o filenames -F _paceline paceline\n");
}

static bool names_machine(const pace_option *option) {
    return strcmp(option->name, "on") == 0 ||
           (strcmp(option->name, "from") == 0 && strcmp(option->argument, "FILE") != 0);
}

/* One option of _arguments: '*--on[a machine]:DEVICE:_files'. With a letter it is two. */
static void print_zsh_option(const char *verb, const pace_option *option) {
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
        if (pace_option_word(names_at, verb, option->name, 0)) {
            printf(":(");
            print_words(verb, option->name);
            putchar(')');
        } else printf(":_%s", names_machine(option) ? "paceline_machines" : "files");
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
        for (size_t k = 0; (option = pace_option_at(verb->name, k)); k++) print_zsh_option(verb->name, option);
        const char *names = names_of(verb->name), *words = operand_words(verb->name);
        printf(" \\\n            '(- *)'{-h,--help}'[show the options]' '*:input:");
        if (words) printf("(%s)' ;;\n", words);
        else printf("_%s%s' ;;\n", names ? "paceline_" : "files", names ? names : "");
    }
    printf("    man) compadd ");
    print_verbs();
    printf(" ;;\n    completion) compadd %s ;;\n    *) _files ;;\n    esac\n}\n_paceline \"$@\"\n",
           operand_words("completion"));
}

static void print_fish_option(const char *verb, const pace_option *option) {
    char name[64];
    printf("complete -c paceline -n '__fish_seen_subcommand_from %s' -l %s", verb, cli_option_name(name, option) + 2);
    if (option->letter) printf(" -s %c", option->letter);
    if (pace_option_word(names_at, verb, option->name, 0)) {
        printf(" -x -a '");
        print_words(verb, option->name);
        putchar('\'');
    } else if (option->argument) printf(" -r");
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
    for (int i = 0; i < OPERANDS; i++)
        printf("complete -c paceline -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", operands[i].verb,
               operands[i].words);
    printf("complete -c paceline -n '__fish_seen_subcommand_from man' -f -a '");
    print_verbs();
    printf("'\n");
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
        if (pace_context_open(&names_at) != PACE_OK) return cli_fail("completion", PACE_E_MEMORY);
        shells[i].print();
        pace_context_free(names_at);
        return CLI_DONE;
    }
    cli_say("paceline completion: expected bash, zsh or fish, found '%.80s'", shell ? shell : "");
    return CLI_USAGE;
}
