import type { Abstract, FactoryProvider } from '@nestjs/common';

type Instances<Tokens extends readonly Abstract<unknown>[]> = { [At in keyof Tokens]: Tokens[At]['prototype'] };

/** Provides an object of a class that has no decorators, such as one of a library. `create` gets the instances of the classes in `inject`, in order. */
export const provide = <Value, const Tokens extends readonly Abstract<unknown>[]>(
  token: Abstract<Value>,
  inject: Tokens,
  create: (...instances: Instances<Tokens>) => Value | Promise<Value>,
): FactoryProvider<Value> => ({
  provide: token,
  inject: [...inject],
  useFactory: (...instances) => create(...(instances as unknown as Instances<Tokens>)),
});
