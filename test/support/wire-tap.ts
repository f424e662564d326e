import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pcapOf, type CapturedPdu, type Conversation } from '@countersign/smpp/capture';
import { findProgram } from './programs.js';
import type { CarrierSetup } from './outbound-harness.js';

const PORT_IN_CAPTURE = 2775;
const US = '192.0.2.1';
const THEM = '192.0.2.2';

/** tshark's reading of a capture. */
export interface Dissection {
  /** Names of the commands that we sent, each with its count. */
  readonly sentByUs: ReadonlyMap<string, number>;
  /** The packets of ours that tshark calls malformed, one line each. */
  readonly malformedByUs: readonly string[];
}

/** Records the octets on one side of a connection to a server. */
export class WireTap {
  readonly #conversations: { readonly pdus: CapturedPdu[]; readonly port: number }[] = [];
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor(
    private readonly weAre: 'server' | 'client',
    target: () => number,
  ) {
    this.#server = net.createServer({ noDelay: true }, (near) => {
      const far = net.connect({ port: target(), host: '127.0.0.1', noDelay: true });
      const pdus: CapturedPdu[] = [];
      this.#conversations.push({ pdus, port: near.remotePort ?? 0 });
      this.#link(near, far, (octets) => pdus.push(this.#captured(octets, 'server')));
      this.#link(far, near, (octets) => pdus.push(this.#captured(octets, 'client')));
    });
  }

  /** Between a peer and the server at that port; `weAre` says which of them is ours. */
  static async open(weAre: 'server' | 'client', target: number | (() => number)): Promise<WireTap> {
    const tap = new WireTap(weAre, typeof target === 'number' ? () => target : target);
    await new Promise<void>((resolve) => tap.#server.listen(0, '127.0.0.1', resolve));
    return tap;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The server as a carrier that a gateway reaches over this tap. */
  carrier(name: string, isBound: () => boolean): CarrierSetup['carrier'] {
    return {
      name,
      listen: () => Promise.resolve(this.port),
      get isBound() {
        return isBound();
      },
    };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** tshark's reading of the octets so far. */
  dissect(): Dissection {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-capture-'));
    const file = path.join(folder, 'capture.pcap');
    try {
      writeFileSync(file, pcapOf(this.#conversations.map((each) => this.#conversation(each))));
      const commands = tshark(file, 'smpp', ['-e', 'smpp.command_id']).flatMap((line) => line.split(','));
      const sentByUs = new Map<string, number>();
      for (const command of commands) sentByUs.set(command, (sentByUs.get(command) ?? 0) + 1);
      return {
        sentByUs,
        malformedByUs: tshark(file, '_ws.malformed', ['-e', 'frame.number', '-e', 'smpp.command_id']),
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #conversation({ pdus, port }: { readonly pdus: CapturedPdu[]; readonly port: number }): Conversation {
    const [here, there] = this.weAre === 'server' ? [PORT_IN_CAPTURE, port] : [port, PORT_IN_CAPTURE];
    return { local: { address: US, port: here }, remote: { address: THEM, port: there }, pdus };
  }

  #captured(octets: Buffer, receivedBy: 'server' | 'client'): CapturedPdu {
    return { atMs: Date.now(), direction: receivedBy === this.weAre ? 'in' : 'out', octets };
  }

  #link(from: net.Socket, to: net.Socket, note: (octets: Buffer) => void): void {
    this.#sockets.add(from);
    from.on('data', (octets: Buffer) => {
      note(octets);
      to.write(octets);
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}

/** The fields of every packet of ours that matches the filter, one line a packet. */
function tshark(file: string, filter: string, fields: readonly string[]): string[] {
  const { stdout, stderr, status } = spawnSync(
    findProgram('tshark') ?? 'tshark',
    [
      '-r',
      file,
      '-d',
      `tcp.port==${PORT_IN_CAPTURE},smpp`,
      '-Y',
      `ip.src==${US} && ${filter}`,
      '-T',
      'fields',
      ...fields,
    ],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`tshark: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}
