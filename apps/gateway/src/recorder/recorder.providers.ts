import { FlightRecorder } from './flight-recorder.js';
import { TraceResponder } from './trace-responder.js';

/** Records of the last PDUs of bind connections. */
export const recorderProviders = [FlightRecorder, TraceResponder];
