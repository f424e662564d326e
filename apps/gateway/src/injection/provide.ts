import type { Abstract, FactoryProvider } from '@nestjs/common';

type ValuesOf<Tokens extends readonly Abstract<unknown>[]> = {
  -readonly [At in keyof Tokens]: Tokens[At]['prototype'];
};

/** Provides a class without decorators, such as one of a library: `create` receives the injected values in order. */
export function provide<const Tokens extends readonly Abstract<unknown>[], Value>(
  token: Abstract<Value>,
  inject: Tokens,
  create: (...values: ValuesOf<Tokens>) => Value | Promise<Value>,
): FactoryProvider {
  return { provide: token, inject: [...inject], useFactory: create };
}
