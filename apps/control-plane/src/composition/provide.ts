import type { Uuid } from '@countersign/ids';
import { ServerKeys } from '@countersign/keys';
import { DatabaseClock } from '@countersign/postgres';
import type { Abstract, FactoryProvider } from '@nestjs/common';

type Instances<Tokens extends readonly Abstract<unknown>[]> = { [At in keyof Tokens]: Tokens[At]['prototype'] };

/** Provides an object of a class that is not decorated for Nest. `make` gets the instances of the classes in `inject`. */
export const provide = <T, const Tokens extends readonly Abstract<unknown>[]>(
  token: Abstract<T>,
  inject: Tokens,
  make: (...instances: Instances<Tokens>) => T,
): FactoryProvider<T> => ({
  provide: token,
  inject: [...inject],
  useFactory: (...instances) => make(...(instances as unknown as Instances<Tokens>)),
});

/** Provides a store that creates ids, and that seals or digests values. */
export const provideStore = <T>(
  token: Abstract<T>,
  make: (parts: { readonly newId: () => Uuid; readonly keys: ServerKeys }) => T,
): FactoryProvider<T> =>
  provide(token, [DatabaseClock, ServerKeys], (clock, keys) => make({ newId: () => clock.newId(), keys }));
