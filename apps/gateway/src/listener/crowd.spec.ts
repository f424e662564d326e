import { beforeEach, describe, expect, it } from 'vitest';
import { Crowd } from './crowd.js';

let crowd: Crowd<string>;
beforeEach(() => {
  crowd = new Crowd<string>({ connections: 6, connectionsOfPeer: 4, unbound: 4, unboundOfPeer: 2 });
});

const HERE = '192.0.2.1';
const enter = (name: string, address = HERE): unknown => crowd.enter(name, address, name);
const ENTERED = { entered: true, pushedOut: null };

describe('a crowd of connections', () => {
  it('of one peer: the one that has waited longest makes room', () => {
    expect([enter('a'), enter('b')]).toEqual([ENTERED, ENTERED]);
    expect(enter('c')).toEqual({ entered: true, pushedOut: 'a' });
    expect(enter('d', '192.0.2.2')).toEqual(ENTERED);
    expect(crowd.connections).toEqual(['b', 'c', 'd']);
  });

  it('of many peers: the one that has waited longest of all makes room', () => {
    for (const n of [1, 2, 3, 4]) expect(enter(`${n}`, `192.0.2.${n}`)).toEqual(ENTERED);
    expect(enter('5', '192.0.2.5')).toEqual({ entered: true, pushedOut: '1' });
  });

  it('of many peers: the one that has waited longest of the peer with the most makes room', () => {
    enter('carrier', '192.0.2.9');
    for (const name of ['a', 'b']) enter(name, '192.0.2.1');
    enter('c', '192.0.2.2');
    expect(enter('d', '192.0.2.3')).toEqual({ entered: true, pushedOut: 'a' });
    expect(crowd.connections).toContain('carrier');
  });

  it('pushes out nobody who is bound', () => {
    enter('a');
    crowd.bound('a');
    enter('b');
    enter('c');
    expect(enter('d')).toEqual({ entered: true, pushedOut: 'b' });
    expect(crowd.connections).toEqual(['a', 'c', 'd']);
  });

  it('has a most for one peer, and for all, and room again when one goes', () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      expect(enter(name)).toEqual(ENTERED);
      crowd.bound(name);
    }
    expect(enter('e')).toEqual({ entered: false, reason: 'peer_full' });
    for (const name of ['f', 'g']) {
      expect(enter(name, '192.0.2.9')).toEqual(ENTERED);
      crowd.bound(name);
    }
    expect(enter('h', '192.0.2.10')).toEqual({ entered: false, reason: 'full' });
    crowd.leave('a');
    crowd.leave('a');
    expect(enter('e')).toEqual(ENTERED);
  });
});
