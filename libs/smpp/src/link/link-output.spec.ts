import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Pdu } from '../pdu/pdu.js';
import { LinkOutput } from './link-output.js';

const PDU_OCTETS = 16;
const answer = (sequence: number): Pdu => ({ command: 'enquire_link_resp', status: 0, sequence, fields: {}, tlvs: [] });

let server: net.Server;
let socket: net.Socket;
let peer: net.Socket;

beforeEach(async () => {
  server = net.createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  [peer] = (await once(server, 'connection')) as [net.Socket];
  peer.pause();
});
afterEach(() => {
  socket.destroy();
  peer.destroy();
  server.close();
});

describe('the output of a link', () => {
  it('is one chunk while the socket has not sent the one before, and arrives whole once the peer reads', async () => {
    const unread = vi.fn();
    const output = new LinkOutput(socket, unread);
    let sequence = 0;
    const writeInTurns = async (turns: number): Promise<void> => {
      for (let made = 0; made < turns; made += 1) {
        output.write(answer(++sequence));
        await turn();
      }
    };
    // Fills the buffers of the kernel.
    while (socket.writableLength === 0) {
      for (let made = 0; made < 4_096; made += 1) output.write(answer(++sequence));
      await turn();
    }
    const write = vi.spyOn(socket, 'write');
    await writeInTurns(1_000);
    expect(write.mock.calls.length).toBeLessThanOrEqual(1);
    let octets = 0;
    peer.on('data', (chunk) => (octets += chunk.length)).resume();
    await expect.poll(() => octets).toBe(sequence * PDU_OCTETS);
    expect(unread).not.toHaveBeenCalled();
  });

  it('is written in the turn in which it was made while the peer reads', async () => {
    const output = new LinkOutput(socket, () => undefined);
    peer.resume();
    const write = vi.spyOn(socket, 'write');
    for (let made = 1; made <= 10; made += 1) {
      output.write(answer(made));
      await turn();
      await turn();
      expect(write).toHaveBeenCalledTimes(made);
    }
  });
});
