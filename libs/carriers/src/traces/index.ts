export {
  FULL_TRACE_SECONDS,
  newTraceNonce,
  recordFully,
  TRACE_FORMATS,
  TraceSeal,
  type TraceAnswer,
  type TracedConnection,
  type TracedPdu,
  type TraceFormat,
  type TraceQuestion,
} from './bind-trace.js';
