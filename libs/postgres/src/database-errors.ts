import pg from 'pg';

/**
 * The database did not answer, or not in time, or cannot accept work now. The operation may or may not have been
 * committed: a caller answers "try again", and every statement must be safe to run twice.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** The server reported it, and the connection is still usable. */
  readonly connectionLives: boolean;

  constructor(message: string, options: ErrorOptions & { connectionLives?: boolean } = {}) {
    super(message, options);
    this.connectionLives = options.connectionLives ?? false;
  }
}

/**
 * The database rejected a statement: a constraint, a value, a syntax error. Contains no value of a row or a
 * parameter, so it may be logged.
 */
export class DataError extends Error {
  override readonly name = 'DataError';

  constructor(
    message: string,
    /** SQLSTATE, five characters (PostgreSQL, appendix A). */
    readonly sqlState: string,
    /** The violated constraint, or null. */
    readonly constraint: string | null,
  ) {
    super(message);
  }
}

/**
 * Another transaction held a lock for longer than `lock_timeout`. Statements on other rows may succeed, and so may this one, later.
 */
export class LockTimeout extends DatabaseUnavailable {
  constructor(message: string) {
    super(message, { connectionLives: true });
  }
}

/** The partition of a row does not exist (yet). Nothing about the row is wrong, so a caller answers "try again". */
export class MissingPartition extends DatabaseUnavailable {
  constructor(message: string) {
    super(message, { connectionLives: true });
  }
}

/** SQLSTATE classes of values that do not fit: data exceptions, constraints, limits of an index, errors that triggers raise. */
const VALUE_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54', 'P0']);

/**
 * Whether work on other rows may succeed: not so in an outage, after a lost conflict, with the schema of another release or
 * without a key. Of other errors only those of values that the code cannot use, such as an infinite time.
 */
export function isCausedByRows(error: unknown): boolean {
  // Of one event among others: the partitions of other days exist.
  if (error instanceof MissingPartition) return true;
  if (error instanceof DataError) return VALUE_CLASSES.has(error.sqlState.slice(0, 2));
  return error instanceof TypeError || error instanceof RangeError;
}

/** A lost deadlock or serialization: nothing was committed, and the transaction should be run again. */
export class TransactionConflict extends Error {
  override readonly name = 'TransactionConflict';
}

const CONFLICTS = new Set(['40001', '40P01']);

/** The server is read-only: a standby, or the old primary after a failover. */
const READ_ONLY = '25006';
/** A standby refuses `BEGIN READ WRITE` by the check of a setting; its message is in the server's language. */
const REFUSED_WRITES = { code: '0A000', routine: 'call_bool_check_hook' } as const;

/** SQLSTATE classes: connection, resources (disk, memory, connections), operator, system; then single states. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);
const UNAVAILABLE_STATES = new Set(['25P03']);

/** The server cancelled a statement at its timeout; the connection is usable. */
const CANCELLED = new Set(['57014']);
const LOCK_NOT_AVAILABLE = '55P03';
/** The function of the server that finds the partition of a row; its message is in the server's language. */
const FIND_PARTITION = { code: '23514', routine: 'ExecFindPartition' } as const;

/** Messages of `pg` without a code for a lost connection or a timeout. */
const CONNECTION_LOST =
  /^(timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|Client was closed|Cannot use a pool)/;

/** Messages of this class quote the rejected value. */
const DATA_EXCEPTION_CLASS = '22';

const isSystemError = (error: Error): boolean => 'syscall' in error || ('code' in error && error.code === 'ECONNRESET');

function fromServer(error: pg.DatabaseError): Error {
  const state = error.code ?? 'XX000';
  if (CONFLICTS.has(state)) return new TransactionConflict(`${state} ${error.message}`);
  if (state === LOCK_NOT_AVAILABLE) return new LockTimeout(`${state} ${error.message}`);
  if (state === FIND_PARTITION.code && error.routine === FIND_PARTITION.routine) {
    return new MissingPartition(`${state} ${error.message}`);
  }
  if (isReadOnly(error) || UNAVAILABLE_STATES.has(state) || UNAVAILABLE_CLASSES.has(state.slice(0, 2))) {
    return new DatabaseUnavailable(`${state} ${error.message}`, { connectionLives: CANCELLED.has(state) });
  }
  const text = state.startsWith(DATA_EXCEPTION_CLASS) ? 'a value does not fit its type' : error.message;
  return new DataError(`${state} ${text}`, state, error.constraint ?? null);
}

/** The pool then holds connections to a server that is no longer the primary. */
export function isReadOnly(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === READ_ONLY || (error.code === REFUSED_WRITES.code && error.routine === REFUSED_WRITES.routine);
}

/** The query timed out without any response. */
export function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Classifies a failure of `pg`. Other errors are returned unchanged. */
export function classifyError(error: unknown): Error {
  if (error instanceof pg.DatabaseError) return fromServer(error);
  if (!(error instanceof Error)) return new Error('thrown value is not an Error', { cause: error });
  if (error instanceof AggregateError || isSystemError(error) || CONNECTION_LOST.test(error.message)) {
    return new DatabaseUnavailable(error.message || 'no connection to the database', { cause: error });
  }
  return error;
}
