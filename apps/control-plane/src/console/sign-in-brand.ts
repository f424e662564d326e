import type { Brand } from '@countersign/accounts/accounts';
import { SignInBrandStore } from '@countersign/accounts/console-sessions';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';

/** The brand of verifications that sign in to the console, read once by a process. */
@Injectable()
export class SignInBrand {
  #brand: Promise<Brand> | null = null;

  constructor(
    private readonly database: Database,
    private readonly store: SignInBrandStore,
  ) {}

  /** Read again after a failure. */
  get(): Promise<Brand> {
    this.#brand ??= this.database
      .transaction((tx) => this.store.ensure(tx))
      .catch((error: unknown) => {
        this.#brand = null;
        throw error;
      });
    return this.#brand;
  }
}
