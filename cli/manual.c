/* Manual pages, from the library's table of options. */
#include "exit_codes.h"
#include "say.h"
#include "verb.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A line of text in roff: hyphens as they are typed, no command by chance. */
static void print_roff(const char *text) {
    for (const char *c = text; *c; c++) {
        if ((c == text || c[-1] == '\n') && (*c == '.' || *c == '\'')) printf("\\&");
        if (*c == '-' || *c == '\\') printf("\\%c", *c);
        else putchar(*c);
    }
    putchar('\n');
}

static void print_option(const pace_option *option) {
    char name[64];
    printf(".TP\n\\fB");
    if (option->letter) printf("\\-%c\\fR, \\fB", option->letter);
    for (const char *c = cli_option_name(name, option); *c; c++) printf(*c == '-' ? "\\-" : "%c", *c);
    printf("\\fR%s%s\n", option->argument ? " " : "", option->argument ? option->argument : "");
    print_roff(option->help);
}

static void print_ends(void) {
    printf(".SH EXIT STATUS\n");
    for (const cli_exit_code *one = cli_exit_codes; one->code >= 0; one++) {
        printf(".TP\n%d\n", one->code);
        print_roff(one->means);
    }
    printf(".SH ENVIRONMENT\n");
    for (const cli_variable *one = cli_variables; one->name; one++) {
        printf(".TP\n.B %s\n", one->name);
        print_roff(one->means);
    }
}

static int print_verb(const pace_verb *verb) {
    const pace_option *option;
    const char *heading = NULL;
    printf(".TH PACELINE\\-");
    for (const char *c = verb->name; *c; c++) putchar(toupper((unsigned char)*c));
    printf(" 1 \"\" \"Paceline %s\"\n.SH NAME\npaceline\\-%s \\- %s\n.SH SYNOPSIS\n.B paceline %s\n"
           "[options] %s\n.SH DESCRIPTION\n",
           pace_version(), verb->name, verb->summary, verb->name, verb->operands);
    print_roff(verb->help);
    printf(".SH OPTIONS\n");
    for (size_t i = 0; (option = pace_option_at(verb->name, i)); i++) {
        if (option->heading && (!heading || strcmp(heading, option->heading) != 0)) printf(".SS %s\n", option->heading);
        heading = option->heading;
        print_option(option);
    }
    print_ends();
    return CLI_DONE;
}

int cli_manual(const char *name) {
    const pace_verb *verb;
    if (name) {
        for (size_t i = 0; (verb = pace_verb_at(i)); i++)
            if (strcmp(verb->name, name) == 0) return print_verb(verb);
        cli_say("paceline man: unknown verb '%.80s' (see 'paceline --help')", name);
        return CLI_USAGE;
    }
    printf(".TH PACELINE 1 \"\" \"Paceline %s\"\n.SH NAME\npaceline \\- where the time of a training step goes\n"
           ".SH SYNOPSIS\n.B paceline\nVERB [options] INPUT...\n.SH VERBS\n",
           pace_version());
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        printf(".TP\n.B %s\n", verb->name);
        print_roff(verb->summary);
    }
    print_ends();
    return CLI_DONE;
}
