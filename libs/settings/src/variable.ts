import { ValidateIf } from 'class-validator';

/** What a text in the environment became: a value, or the fault that keeps it from being one (`is not a whole number`). */
export type Reading = { readonly value: unknown } | { readonly fault: string };

/** How a property of a settings class is filled from the environment. */
export interface Variable {
  readonly name: string;
  readonly allowed: string;
  /** The value is never shown, not even a wrong one. */
  readonly secret: boolean;
  read(text: string): Reading;
}

const variablesOf = new WeakMap<object, Map<string, Variable>>();

/**
 * Declares that a property is read from a variable, and what class-validator demands of what was read. A property that
 * starts as undefined is required; one that starts as null may stay null.
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
