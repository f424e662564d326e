import type { IncomingMessage } from 'node:http';

/** A body up to this size is not counted: as many as there are connections have some memory of the process together. */
const SMALL_OCTETS = 8 * 1024;
/** Counted for a body of unknown length (`Transfer-Encoding: chunked`). */
const OCTETS_OF_CHUNKED = 32 * 1024;

export interface BodyLimits {
  /** Octets of all bodies in this process. */
  readonly octets: number;
  /** Octets of the bodies of one account, or of one admin key. */
  readonly octetsOfOwner: number;
}

const LIMITS: BodyLimits = { octets: 64 * 1024 * 1024, octetsOfOwner: 8 * 1024 * 1024 };

function octetsOf({ headers }: Pick<IncomingMessage, 'headers'>): number {
  if (headers['transfer-encoding'] !== undefined) return OCTETS_OF_CHUNKED;
  const octets = Number(headers['content-length'] ?? 0);
  return octets > SMALL_OCTETS ? octets : 0;
}

/** Bounds the octets of bodies that are received at a time; each may take as long as the request timeout. */
export class IncompleteBodies {
  readonly #octetsOf = new Map<string, number>();
  #octets = 0;

  constructor(private readonly limits: BodyLimits = LIMITS) {}

  /**
   * Whether the body may be received; it is counted until it is complete or its connection is lost. `owner`: null for a request
   * without a key, whose body is not counted.
   */
  begin(request: IncomingMessage, owner: string | null): boolean {
    const octets = octetsOf(request);
    if (octets === 0 || owner === null) return true;
    const ofOwner = (this.#octetsOf.get(owner) ?? 0) + octets;
    if (ofOwner > this.limits.octetsOfOwner || this.#octets + octets > this.limits.octets) return false;
    this.#octetsOf.set(owner, ofOwner);
    this.#octets += octets;
    let isCounted = true;
    const end = (): void => {
      if (!isCounted) return;
      isCounted = false;
      this.#end(owner, octets);
    };
    request.once('end', end).once('close', end);
    return true;
  }

  #end(owner: string, octets: number): void {
    this.#octets -= octets;
    const left = (this.#octetsOf.get(owner) ?? 0) - octets;
    if (left === 0) this.#octetsOf.delete(owner);
    else this.#octetsOf.set(owner, left);
  }
}
