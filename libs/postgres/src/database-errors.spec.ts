import { inspect } from 'node:util';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { classifyError, DatabaseUnavailable, DataError, TransactionConflict } from './database-errors.js';

function fromServer(
  code: string,
  message = 'said the server',
  constraint?: string,
  routine?: string,
): pg.DatabaseError {
  const error = new pg.DatabaseError(message, 0, 'error');
  error.code = code;
  error.constraint = constraint;
  error.routine = routine;
  return error;
}

const systemError = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });

describe('a failure of the database', () => {
  const cases: [string, Error, unknown][] = [
    ['a connection exception', fromServer('08006'), DatabaseUnavailable],
    ['too many connections', fromServer('53300'), DatabaseUnavailable],
    ['a full disk', fromServer('53100'), DatabaseUnavailable],
    ['an administrator shutting down the server', fromServer('57P01'), DatabaseUnavailable],
    ['a server that is starting', fromServer('57P03'), DatabaseUnavailable],
    ['a statement that took too long', fromServer('57014'), DatabaseUnavailable],
    ['an input/output error', fromServer('58030'), DatabaseUnavailable],
    ['a read-only server', fromServer('25006'), DatabaseUnavailable],
    [
      'a standby that is asked to write',
      fromServer('0A000', 'x', undefined, 'call_bool_check_hook'),
      DatabaseUnavailable,
    ],
    ['an unsupported feature', fromServer('0A000'), DataError],
    ['a lock timeout', fromServer('55P03'), DatabaseUnavailable],
    ['a refused connection', systemError('ECONNREFUSED'), DatabaseUnavailable],
    ['a refused connection to all addresses', new AggregateError([systemError('ECONNREFUSED')]), DatabaseUnavailable],
    ['a query without an answer', new Error('Query read timeout'), DatabaseUnavailable],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect'), DatabaseUnavailable],
    ['a lost connection', new Error('Connection terminated unexpectedly'), DatabaseUnavailable],
    ['a serialization failure', fromServer('40001'), TransactionConflict],
    ['a deadlock', fromServer('40P01'), TransactionConflict],
    ['a taken name', fromServer('23505', 'duplicate key', 'brands_slug_key'), DataError],
    ['a statement with a syntax error', fromServer('42601'), DataError],
    ['an internal error of the server', fromServer('XX000'), DataError],
    ['a programming error', new TypeError('not a function'), TypeError],
  ];

  it.each(cases)('%s is classified', (_what, error, kind) => {
    expect(classifyError(error)).toBeInstanceOf(kind);
  });

  it('that is a rejected value keeps its state and constraint', () => {
    expect(classifyError(fromServer('23505', 'duplicate key', 'brands_slug_key'))).toMatchObject({
      sqlState: '23505',
      constraint: 'brands_slug_key',
      message: '23505 duplicate key',
    });
  });

  it('does not contain the rejected value', () => {
    const error = fromServer('22P02', 'invalid input syntax for type uuid: "+14155550100"');
    error.detail = 'Key (phone)=(+14155550100)';
    const classified = classifyError(error);
    expect(inspect(classified, { depth: null, showHidden: true })).not.toContain('4155550100');
  });

  it('that is not an Error becomes one', () => {
    expect(classifyError('boo')).toBeInstanceOf(Error);
  });
});
