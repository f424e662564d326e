import type { Socket } from 'node:net';
import { Frames, RESPONSE } from './frames.js';

/** A cheap end of a link: a plain socket, prepared frames, one write for all frames of a moment. */
export class PlainEnd {
  readonly #waiting = new Map<number, (well: boolean) => void>();
  #batch: Buffer[] = [];

  /** `frames` has parsed the socket's octets so far. */
  constructor(
    private readonly socket: Socket,
    frames = new Frames(),
  ) {
    socket.on('data', (octets) =>
      frames.read(octets, (command, status, sequence) => {
        if (command < RESPONSE) return;
        this.#waiting.get(sequence)?.(status === 0);
        this.#waiting.delete(sequence);
      }),
    );
  }

  /** Sends a request with that sequence number; calls back with whether its answer has status 0. */
  request(sequence: number, octets: Buffer, onAnswer: (well: boolean) => void): void {
    this.#waiting.set(sequence, onAnswer);
    if (this.#batch.push(octets) === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.socket.write(Buffer.concat(this.#batch));
    this.#batch = [];
  }
}
