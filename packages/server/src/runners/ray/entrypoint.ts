/**
 * All that the engine's shell ever reads of us, the same for every job: what differs comes as variables, and what users wrote in
 * files. `exec`: a stop of the engine's reaches the supervisor.
 */
export const ENTRYPOINT =
  'PYTHONPATH="$IMPRINT_SOURCES" PYTHONSAFEPATH=1 exec "$IMPRINT_PYTHON" -m imprint_trainer.remote "$IMPRINT_ATTEMPT"';
