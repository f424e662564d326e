import type { Abstract, FactoryProvider } from '@nestjs/common';

type Instances<Tokens extends readonly Abstract<unknown>[]> = { [At in keyof Tokens]: Tokens[At]['prototype'] };

/** Provides an object that a function creates. `create` gets the instances of the classes in `inject`, in order. */
export const provide = <Value, const Tokens extends readonly Abstract<unknown>[]>(
  token: Abstract<Value>,
  inject: Tokens,
  create: (...instances: Instances<Tokens>) => Value | Promise<Value>,
): FactoryProvider<Value> => ({
  provide: token,
  inject: [...inject],
  useFactory: (...instances) => create(...(instances as unknown as Instances<Tokens>)),
});

type TokensOf<Parameters extends readonly unknown[]> = { [At in keyof Parameters]: Abstract<Parameters[At]> };

/**
 * Provides a class without decorators, such as one of a library. `inject` lists the classes of its constructor's parameters;
 * parameters with a default may be left out.
 */
export const provideClass = <Value, Parameters extends readonly unknown[]>(
  type: new (...parameters: Parameters) => Value,
  ...inject: TokensOf<Parameters>
): FactoryProvider<Value> => ({
  provide: type,
  inject: [...inject],
  useFactory: (...instances) => new type(...(instances as unknown as Parameters)),
});
