/** The fields of a described class as a plain object: answers are never instances of the classes that describe them. */
export type Plain<Described> = { readonly [Field in keyof Described]: Described[Field] };
