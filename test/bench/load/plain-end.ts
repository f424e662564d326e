import type { Socket } from 'node:net';
import { Frames, RESPONSE } from './frames.js';

/** An end of a link that costs next to nothing: a plain socket, frames made beforehand, one write for all of a moment. */
export class PlainEnd {
  readonly #waiting = new Map<number, (well: boolean) => void>();
  #batch: Buffer[] = [];

  /** `frames` has read of the socket so far. */
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

  /** Sends a request of that sequence number; calls back when it is answered, and says whether with status 0. */
  request(sequence: number, octets: Buffer, onAnswer: (well: boolean) => void): void {
    this.#waiting.set(sequence, onAnswer);
    if (this.#batch.push(octets) === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.socket.write(Buffer.concat(this.#batch));
    this.#batch = [];
  }
}
