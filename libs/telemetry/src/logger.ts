import { destination as fileDestination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { redactSecrets, redactText, redactValue } from './redaction.js';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** The name of the process: `control-plane`, `gateway`, `simulator`. */
  readonly app: string;
  /** pino's levels, or `silent`. */
  readonly level: string;
  /** Destination of the lines, written synchronously; default standard output. */
  readonly destination?: DestinationStream;
}

/**
 * A logger of JSON lines. Everything logged (objects, errors, bindings, messages) is redacted before it is written,
 * and the finished line is searched once more for secrets that are recognisable by their form. Logging never throws.
 */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level,
    base: { app: options.app, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Errors are described before pino sees them; its own serializer would treat the description as an error.
    serializers: { err: (described: unknown) => described },
    hooks: {
      logMethod(this: Logger, given: unknown[], write: (...values: never[]) => void) {
        Reflect.apply(write, this, redactArguments(given));
      },
      streamWrite: redactSecrets,
    },
  };
  // Synchronous: at process exit, buffered lines could be written into the middle of another line.
  const { destination = fileDestination({ dest: process.stdout.fd, sync: true }) } = options;
  const logger = pino(settings, destination);
  return redactingBindings(logger);
}

/** Sets the level that `read` returns. When it throws, the level stays and the error is logged. */
export function reloadLogLevel(logger: Logger, read: () => string): void {
  try {
    logger.level = read();
  } catch (err) {
    logger.error({ err }, 'log level cannot be read; the present one stays in use');
  }
}

/**
 * Bindings are written into a child once and pass no hook, so both methods that set them are wrapped. Children
 * inherit the wrapped methods from their parent.
 */
function redactingBindings(logger: Logger): Logger {
  for (const method of ['child', 'setBindings'] as const) {
    const original: unknown = Reflect.get(logger, method);
    if (typeof original !== 'function') throw new TypeError(`pino has no ${method}`);
    Object.defineProperty(logger, method, {
      value(this: Logger, bindings: Readonly<Record<string, unknown>>, ...rest: unknown[]): unknown {
        return Reflect.apply(original, this, [redactFields(bindings), ...rest]);
      },
    });
  }
  return logger;
}

function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, redactValue(value, name)]));
}

/** pino would use the message of an error that is logged alone as its own; here it is redacted first. */
function redactArguments(given: readonly unknown[]): unknown[] {
  const [first, ...rest] = given;
  const values = rest.map((value) => (typeof value === 'string' ? redactText(value) : redactValue(value)));
  if (typeof first === 'string') return [redactText(first), ...values];
  if (!(first instanceof Error)) return [redactValue(first), ...values];
  return [{ err: redactValue(first) }, ...(values.length > 0 ? values : [redactText(first.message)])];
}
