/**
 * All that the engine's shell ever reads of us, the same for every job: what differs comes as variables, and what users wrote in
 * files. `exec`: a stop of the engine's reaches the supervisor.
 */
export const ENTRYPOINT =
  'PYTHONPATH="$IMPRINT_SOURCES" PYTHONSAFEPATH=1 exec "$IMPRINT_PYTHON" -m imprint_node "$IMPRINT_ATTEMPT"';

/**
 * Where the nodes do not see the storage: the program in the variable (imprint_node/fetch.py, the same for every job too)
 * brings the sources and the attempt, and goes on as above.
 */
export const FETCHING_ENTRYPOINT = 'PYTHONSAFEPATH=1 exec "$IMPRINT_PYTHON" -c "$IMPRINT_FETCH"';
