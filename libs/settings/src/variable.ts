import { ValidateIf } from 'class-validator';

/** The result of reading a text of the environment: a value, or a fault (`is not a whole number`). */
export type Reading = { readonly value: unknown } | { readonly fault: string };

/** How a property of a settings class is filled from the environment. */
export interface Variable {
  readonly name: string;
  readonly allowed: string;
  /** The value is never shown, not even an invalid one. */
  readonly secret: boolean;
  read(text: string): Reading;
}

const variablesOf = new WeakMap<object, Map<string, Variable>>();

/**
 * Declares that a property is read from a variable, with the class-validator constraints of its value. A property
 * that starts as undefined is required; one that starts as null may stay null.
 */
export function fromVariable(variable: Variable, ...constraints: readonly PropertyDecorator[]): PropertyDecorator {
  return (prototype, property) => {
    const variables = variablesOf.get(prototype) ?? new Map<string, Variable>();
    variablesOf.set(prototype, variables.set(String(property), variable));
    ValidateIf((_, value: unknown) => value !== null)(prototype, property);
    for (const constraint of constraints) constraint(prototype, property);
  };
}

/** The variables of a settings object by property, those of the classes it extends first. */
export function listVariables(settings: object): Map<string, Variable> {
  const prototype: unknown = Object.getPrototypeOf(settings);
  if (typeof prototype !== 'object' || prototype === null) return new Map();
  return new Map([...listVariables(prototype), ...(variablesOf.get(prototype) ?? [])]);
}
