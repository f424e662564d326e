import { describe, expect, it } from 'vitest';
import { type ProcessOptions, processFaults, processWarnings } from './process-options.js';

const NONE: ProcessOptions = {
  debug: null,
  nodeDebug: null,
  nodeOptions: null,
  nodeTlsRejectUnauthorized: null,
  commandLine: [],
  debuggerUrl: null,
};
const variables = (changes: Partial<ProcessOptions>): string[] =>
  processFaults({ ...NONE, ...changes }).map(({ variable }) => variable);

describe('options of a process in production', () => {
  it.each([
    ['*', ['DEBUG']],
    ['ioredis*', ['DEBUG']],
    ['ioredis:*', ['DEBUG']],
    ['express, ioredis:redis', ['DEBUG']],
    ['*,-ioredis:redis', ['DEBUG']],
    ['*,-ioredis*', []],
    ['ioredis', []],
    ['false', []],
    ['express:*', []],
    ['(', []],
  ])('DEBUG=%s has the faults %j', (debug, expected) => expect(variables({ debug })).toEqual(expected));

  it.each([
    ['--inspect=0.0.0.0:9229', ['NODE_OPTIONS']],
    ['--inspect=0.0.0.0', ['NODE_OPTIONS']],
    ['--inspect-brk=[::]:9229', ['NODE_OPTIONS']],
    ['--inspect_wait=10.0.0.7:1', ['NODE_OPTIONS']],
    ['--inspect-port=db.example:9229', ['NODE_OPTIONS']],
    ['--max-old-space-size=512 "--inspect=192.168.0.1:0"', ['NODE_OPTIONS']],
    ['--inspect', []],
    ['--inspect=9230', []],
    ['--inspect=127.0.0.1:9229', []],
    ['--inspect=[::1]:9229', []],
    ['--inspect=localhost', []],
    ['--tls-keylog=/tmp/keys', ['NODE_OPTIONS']],
    ['--trace_tls', ['NODE_OPTIONS']],
    ['--insecure-http-parser', ['NODE_OPTIONS']],
    ['--report-on-signal', ['NODE_OPTIONS']],
    ['--report_uncaught_exception', ['NODE_OPTIONS']],
    ['--report-on-fatalerror --report-dir=/tmp', ['NODE_OPTIONS', 'NODE_OPTIONS']],
    ['--heapsnapshot-signal=SIGUSR2', ['NODE_OPTIONS']],
    ['--heapsnapshot-near-heap-limit=3', ['NODE_OPTIONS']],
    ['--heap-prof', ['NODE_OPTIONS']],
    ['--heap-prof-dir=/tmp', ['NODE_OPTIONS']],
    ['--diagnostic-dir=/tmp', ['NODE_OPTIONS']],
    ['--max-old-space-size=512 --enable-source-maps', []],
  ])('NODE_OPTIONS=%s has the faults %j', (nodeOptions, expected) => {
    expect(variables({ nodeOptions })).toEqual(expected);
    const commandLine = nodeOptions.replaceAll('"', '').split(' ');
    expect(variables({ commandLine })).toEqual(expected.map(() => 'the command line'));
  });

  it('an open debugger is refused on a network, and named in a warning on loopback', () => {
    expect(variables({ debuggerUrl: 'ws://0.0.0.0:9229/0f' })).toEqual(['NODE_OPTIONS']);
    expect(variables({ debuggerUrl: 'ws://127.0.0.1:9229/0f' })).toEqual([]);
    expect(processWarnings(NONE)).toEqual([]);
    expect(processWarnings({ ...NONE, debuggerUrl: 'ws://127.0.0.1:9229/0f' })).toHaveLength(1);
    expect(processWarnings({ ...NONE, nodeOptions: '--inspect' })).toHaveLength(1);
  });

  it('NODE_DEBUG is refused, and NODE_TLS_REJECT_UNAUTHORIZED only where it turns verification off', () => {
    expect(variables({ nodeDebug: 'tls' })).toEqual(['NODE_DEBUG']);
    expect(variables({ nodeTlsRejectUnauthorized: '0' })).toEqual(['NODE_TLS_REJECT_UNAUTHORIZED']);
    expect(variables({ nodeTlsRejectUnauthorized: '1' })).toEqual([]);
  });
});
