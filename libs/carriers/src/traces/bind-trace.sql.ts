/** $1 bind, $2 seconds. */
export const SET_FULL_TRACE = `
  UPDATE binds
  SET full_trace_until = date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $2::int)
  WHERE id = $1 RETURNING full_trace_until AS "fullTraceUntil"`;
