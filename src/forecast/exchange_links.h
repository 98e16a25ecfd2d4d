/*
 * What recorded exchanges should take over the links that their ranks have, and what they take once these links, or
 * what is exchanged, are otherwise. Of a measured time only what links explain changes; what it took longer (waiting
 * for ranks that came late, a host that had not launched) stays.
 */
#pragma once

#include "exchange/exchange.h"
#include "forecast/what_ifs.h"
#include "insight/ranks/link_machine.h"

/* What one exchange does. */
typedef struct {
    double bytes;  /* as a graph counts them (step/graph.h) */
    double faster; /* its links, as a factor; 1 = as they are */
    int algorithm; /* PACE_ANY: what the library chooses */
} pace_link_case;

/* Links that were asked before: so many nodes, links so many times as fast. */
typedef struct {
    int nodes;
    double faster;
    pace_exchange exchange;
} pace_link_opened;

enum { PACE_LINKS_OPENED = 4 };

typedef struct {
    pace_link_machine links; /* of the machine that was named, or the catalogue's (insight/ranks/link_machine.h) */
    pace_catalog *catalog;
    pace_link_opened opened[PACE_LINKS_OPENED]; /* the last ones */
    size_t opened_count;                        /* all that were */
} pace_link_prices;

/** The links of the ranks of a recorded step. PACE_E_USAGE for steps that were not recorded, whose exchanges the
 * machine prices; PACE_E_MISSING where neither says over which links ranks exchange. */
pace_status pace_link_prices_open(pace_link_prices *out, const pace_editing *editing,
                                  const char *what_if) PACE_MUST_CHECK;

/** What an exchange should take, in ns, and the spread of that. False: size, ranks or kind are not known. */
bool pace_link_price(pace_estimate *out_ns, pace_link_prices *prices, const pace_graph *graph,
                     const pace_graph_exchange *exchange, const pace_link_case *what);

/** What of a measured time follows the links: of an exchange whose ranks were all traced, which is measured from the
 * last arrival on, all of it; else what the links explain. */
double pace_link_explained_ns(const pace_graph_exchange *exchange, double measured_ns, double price_ns);

/** Gives a recorded exchange the time it takes in another case, over links `there`: of `measured_ns` what links explain
 * becomes what they explain then. False as above. */
bool pace_link_reprice(pace_variant *variant, uint32_t launch, double measured_ns, pace_link_prices *prices,
                       pace_link_prices *there, const pace_link_case *then);

/** Of a recorded step that moves to a machine of another device, which is named with its links: its exchanges take the
 * links there. Those keep their time of which the size is not recorded, and all where the catalogue does not know over
 * which links they were recorded, or where the machine has the device that was recorded: then it names these links. */
pace_status pace_links_move(pace_editing *editing) PACE_MUST_CHECK;

/** Whether the scenario may ask for that. */
bool pace_links_may_move(const pace_forecast *forecast, const pace_scenario *scenario);
