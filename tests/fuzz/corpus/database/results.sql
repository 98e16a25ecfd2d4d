CREATE TABLE paceline_runs (id INTEGER PRIMARY KEY, at_s INTEGER, verb TEXT, series TEXT, label TEXT, command TEXT);
CREATE TABLE paceline_figures (run INTEGER, path TEXT, value REAL);
INSERT INTO paceline_runs VALUES (3, 5, 'analyze', 'nightly', NULL, x'00ff');
INSERT INTO paceline_runs VALUES (1, 'no number', 7, '', 'b', 'c');
INSERT INTO paceline_figures VALUES (3, 'step_spread.median_ns', 1.5), (9, 'nobody', 2), (1, NULL, 9e999), (1, 'x', 'text'), (1, 'y', -3);
