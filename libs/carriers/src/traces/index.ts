export {
  FULL_TRACE_SECONDS,
  recordFully,
  TRACE_FORMATS,
  TraceSeal,
  traceTopic,
  type TraceAnswer,
  type TracedConnection,
  type TracedPdu,
  type TraceFormat,
  type TraceQuestion,
} from './bind-trace.js';
