import { beforeEach, describe, expect, it } from 'vitest';
import { ConnectionLimit } from './connection-limit.js';

let limit: ConnectionLimit<string>;
beforeEach(() => {
  limit = new ConnectionLimit<string>({ connections: 6, connectionsOfPeer: 4, unbound: 4, unboundOfPeer: 2 });
});

const HERE = '192.0.2.1';
const add = (name: string, address = HERE): unknown => limit.add(name, address, name);
const ADMITTED = { admitted: true, evicted: null };

describe('the limit of connections', () => {
  it('of one peer evicts its oldest unbound connection', () => {
    expect([add('a'), add('b')]).toEqual([ADMITTED, ADMITTED]);
    expect(add('c')).toEqual({ admitted: true, evicted: 'a' });
    expect(add('d', '192.0.2.2')).toEqual(ADMITTED);
    expect(limit.connections).toEqual(['b', 'c', 'd']);
  });

  it('of all peers evicts the oldest unbound connection when all peers have as many', () => {
    for (const n of [1, 2, 3, 4]) expect(add(`${n}`, `192.0.2.${n}`)).toEqual(ADMITTED);
    expect(add('5', '192.0.2.5')).toEqual({ admitted: true, evicted: '1' });
  });

  it('of all peers evicts the one that has waited longest, not the newest of a peer that was there first', () => {
    add('bound', '192.0.2.9');
    limit.markBound('bound');
    for (const n of [1, 2, 3, 4]) add(`${n}`, `192.0.2.${n}`);
    expect(add('second of it', '192.0.2.9')).toEqual({ admitted: true, evicted: '1' });
  });

  it('of all peers evicts the oldest unbound connection of the peer that has the most', () => {
    add('carrier', '192.0.2.9');
    for (const name of ['a', 'b']) add(name, '192.0.2.1');
    add('c', '192.0.2.2');
    expect(add('d', '192.0.2.3')).toEqual({ admitted: true, evicted: 'a' });
    expect(limit.connections).toContain('carrier');
  });

  it('evicts no bound connection', () => {
    add('a');
    limit.markBound('a');
    add('b');
    add('c');
    expect(add('d')).toEqual({ admitted: true, evicted: 'b' });
    expect(limit.connections).toEqual(['a', 'c', 'd']);
  });

  it('refuses connections over the limits of one peer and of all, until another ends', () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      expect(add(name)).toEqual(ADMITTED);
      limit.markBound(name);
    }
    expect(add('e')).toEqual({ admitted: false, reason: 'peer_full' });
    for (const name of ['f', 'g']) {
      expect(add(name, '192.0.2.9')).toEqual(ADMITTED);
      limit.markBound(name);
    }
    expect(add('h', '192.0.2.10')).toEqual({ admitted: false, reason: 'full' });
    limit.remove('a');
    limit.remove('a');
    expect(add('e')).toEqual(ADMITTED);
  });
});
