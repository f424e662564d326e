import type { IdSource, Uuid } from '@countersign/ids';
import { ServerKeys } from '@countersign/keys';
import { DatabaseClock } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';

/** The parts of a store that creates ids, and that seals or digests values. */
@Injectable()
export class StoreParts implements IdSource {
  constructor(
    readonly keys: ServerKeys,
    private readonly clock: DatabaseClock,
  ) {}

  newId(): Uuid {
    return this.clock.newId();
  }
}
