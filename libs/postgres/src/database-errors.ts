import pg from 'pg';

/**
 * The database did not answer, or not in time, or cannot take work just now. What was asked may or may not have been
 * committed: a caller answers "try again" and every statement must be safe to run twice.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** The server said so on a line that is still good. */
  readonly connectionLives: boolean;

  constructor(message: string, options: ErrorOptions & { connectionLives?: boolean } = {}) {
    super(message, options);
    this.connectionLives = options.connectionLives ?? false;
  }
}

/**
 * The database understood and refused: a constraint, a value, a statement. Carries no value of a row or a parameter,
 * so it may be logged.
 */
export class DataError extends Error {
  override readonly name = 'DataError';

  constructor(
    message: string,
    /** Five characters, as in appendix A of the PostgreSQL manual. */
    readonly sqlState: string,
    /** The constraint that was violated, or null. */
    readonly constraint: string | null,
  ) {
    super(message);
  }
}

/** A deadlock was broken or a serialization failed, and nothing was committed: running it again is the cure. */
export class TransactionConflict extends Error {
  override readonly name = 'TransactionConflict';
}

const CONFLICTS = new Set(['40001', '40P01']);

/** The server is read-only: a standby that took over for nobody, or the old primary after a failover. */
const READ_ONLY = '25006';

/** Whole classes, then single states: connection, resources (disk, memory, connections), operator, system. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);
const UNAVAILABLE_STATES = new Set([READ_ONLY, '25P03', '55P03']);

/** The server gave up a statement (its time, or the wait for a lock, was over), not the connection. */
const CANCELLED = new Set(['57014', '55P03']);

/** What `pg` says, without a code, when the line is gone or the time is over. */
const LINE_IS_GONE =
  /^(timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|Client was closed|Cannot use a pool)/;

/** Messages of this class quote the offending value. */
const DATA_EXCEPTION_CLASS = '22';

const isSystemError = (error: Error): boolean => 'syscall' in error || ('code' in error && error.code === 'ECONNRESET');

function fromServer(error: pg.DatabaseError): Error {
  const state = error.code ?? 'XX000';
  if (CONFLICTS.has(state)) return new TransactionConflict(`${state} ${error.message}`);
  if (UNAVAILABLE_STATES.has(state) || UNAVAILABLE_CLASSES.has(state.slice(0, 2))) {
    return new DatabaseUnavailable(`${state} ${error.message}`, { connectionLives: CANCELLED.has(state) });
  }
  const text = state.startsWith(DATA_EXCEPTION_CLASS) ? 'a value does not fit its type' : error.message;
  return new DataError(`${state} ${text}`, state, error.constraint ?? null);
}

/** The pool then holds connections to a server that is no longer the primary. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === READ_ONLY;
}

/** Not a word came back in time. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** The kind of a failure, told apart once, here. An error that is not of the database comes back as it is. */
export function classifyError(error: unknown): Error {
  if (error instanceof pg.DatabaseError) return fromServer(error);
  if (!(error instanceof Error)) return new Error('a thrown value that is no error', { cause: error });
  if (error instanceof AggregateError || isSystemError(error) || LINE_IS_GONE.test(error.message)) {
    return new DatabaseUnavailable(error.message || 'no connection to the database', { cause: error });
  }
  return error;
}
