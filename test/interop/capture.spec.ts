import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tsharkIsMissing } from '../support/foreign-stack.js';
import { WireTap } from '../support/wire-tap.js';

/** A PDU of that command with a body. */
function pdu(command: number, body: Buffer): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(16 + body.length, 0);
  header.writeUInt32BE(command, 4);
  header.writeUInt32BE(1, 12);
  return Buffer.concat([header, body]);
}

const ENQUIRE_LINK = pdu(0x15, Buffer.alloc(0));
/** A submit_sm that is truncated in its source address. */
const CUT_SUBMIT = pdu(0x04, Buffer.from([0, 1, 1, 0x31, 0x32]));

describe.skipIf(tsharkIsMissing)('the check of captures by tshark', () => {
  let server: net.Server;
  let tap: WireTap;

  beforeAll(async () => {
    server = net.createServer((socket) => socket.on('data', (octets) => socket.write(octets)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    tap = await WireTap.open('client', typeof address === 'object' && address !== null ? address.port : 0);
  });
  afterAll(async () => {
    await tap.close();
    server.close();
  });

  it('counts what we sent and finds what is malformed in it, not in what came back', async () => {
    const socket = net.connect(tap.port, '127.0.0.1');
    for (const octets of [ENQUIRE_LINK, CUT_SUBMIT]) {
      socket.write(octets);
      await once(socket, 'data');
    }
    const { sentByUs, malformedByUs } = tap.dissect();
    expect([...sentByUs]).toEqual([
      ['0x00000015', 1],
      ['0x00000004', 1],
    ]);
    expect(malformedByUs).toHaveLength(1);
    socket.destroy();
  });
});
