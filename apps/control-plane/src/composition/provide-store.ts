import { provide } from '@countersign/composition';
import type { Uuid } from '@countersign/ids';
import { ServerKeys } from '@countersign/keys';
import { DatabaseClock } from '@countersign/postgres';
import type { Abstract, FactoryProvider } from '@nestjs/common';

/** Provides a store that creates ids, and that seals or digests values. */
export const provideStore = <T>(
  token: Abstract<T>,
  make: (parts: { readonly newId: () => Uuid; readonly keys: ServerKeys }) => T,
): FactoryProvider<T> =>
  provide(token, [DatabaseClock, ServerKeys], (clock, keys) => make({ newId: () => clock.newId(), keys }));
