import { describe, expect, it } from 'vitest';
import { type CallFrame, type CpuProfile, mergedCalls, totalMicros } from './cpu-profile.js';
import { renderFlameGraph } from './flame-graph.js';
import { moduleOf, phasesOf } from './phases.js';

const BUILD = 'file:///home/someone/countersign/dist';
const frame = (functionName: string, url = ''): CallFrame => ({ functionName, url, lineNumber: url === '' ? -1 : 6 });

/** (root) → handle (the control plane) → seal (libs/keys) → update (C++); the collector and idle time beside it. */
const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 5, 6] },
    { id: 2, callFrame: frame('handle', `${BUILD}/apps/control-plane/src/verify/verify.service.js`), children: [3] },
    { id: 3, callFrame: frame('seal<T>', `${BUILD}/libs/keys/src/seal.js`), children: [4] },
    { id: 4, callFrame: frame('update') },
    { id: 5, callFrame: frame('(garbage collector)') },
    { id: 6, callFrame: frame('(idle)') },
  ],
  // The last sample has no next one, and so no time.
  samples: [2, 3, 4, 4, 5, 6, 2],
  timeDeltas: [0, 100, 200, 300, 100, 300, 5_000],
};

describe('calls', () => {
  it('last from their sample to the next one, and idle time is left out', () => {
    expect(totalMicros(mergedCalls([PROFILE]))).toBe(100 + 200 + 300 + 100 + 300);
  });

  it('of several runs are added by function, whatever the numbers of their nodes', () => {
    const shifted = { ...PROFILE, nodes: PROFILE.nodes.map((node) => ({ ...node, id: node.id + 10 })) };
    const other = {
      ...shifted,
      nodes: shifted.nodes.map(({ children = [], ...node }) => ({ ...node, children: children.map((id) => id + 10) })),
      samples: (PROFILE.samples ?? []).map((id) => id + 10),
    };
    const calls = mergedCalls([PROFILE, other]);
    expect([...calls.children.values()].map((child) => child.frame.functionName)).toEqual([
      'handle',
      '(garbage collector)',
    ]);
    expect(totalMicros(calls)).toBe(2_000);
  });
});

describe('phases', () => {
  it('are the self time of modules; C++ of node counts for its caller', () => {
    expect(phasesOf(mergedCalls([PROFILE]), 10, 0)).toEqual([
      { module: 'libs/keys', percent: 60, microsPerOperation: 60 },
      { module: 'garbage collection', percent: 30, microsPerOperation: 30 },
      { module: 'apps/control-plane/verify', percent: 10, microsPerOperation: 10 },
    ]);
  });

  it('below the limit are one phase, and all together are 100 %', () => {
    const phases = phasesOf(mergedCalls([PROFILE]), 10, 50);
    expect(phases[1]).toEqual({ module: '2 modules below 50 %', percent: 40, microsPerOperation: 40 });
  });

  it('are none without samples or operations', () => {
    expect(phasesOf(mergedCalls([]), 10, 0)).toEqual([]);
    expect(phasesOf(mergedCalls([PROFILE]), 0, 0)).toEqual([]);
  });

  it.each([
    [frame('query', '/home/someone/countersign/node_modules/pg/lib/client.js'), 'pg'],
    [frame('get', `file:///a/node_modules/one/node_modules/@nestjs/core/router.js`), '@nestjs/core'],
    [frame('push', 'node:internal/streams/readable'), 'node: streams'],
    [frame('end', 'node:_http_outgoing'), 'node: _http_outgoing'],
    [frame('parse', 'wasm://wasm/0042'), 'WebAssembly'],
    [frame('(program)'), 'outside JavaScript'],
    [frame('answer', `${BUILD}/test/bench/subjects/plain-nest.js`), 'test/bench'],
    [frame('writev'), null],
  ])('%o is of %s', (each, module) => {
    expect(moduleOf(each)).toBe(module);
  });
});

describe('flame graph', () => {
  const graph = renderFlameGraph('create, a & b', mergedCalls([PROFILE]), 10);

  it('has a box as wide as the share of a function with what it called', () => {
    expect(graph).toMatch(/<title>handle \(apps\/control-plane\/verify\)\n70\.00 %, 70\.00 µs per operation\n/);
    expect(graph).toContain('width="1120.0"');
  });

  it('escapes names', () => {
    expect(graph).toContain('create, a &amp; b');
    expect(graph).toContain('seal&lt;T&gt;');
    expect(graph).not.toContain('(idle)');
  });
});
