/** The values of a form, read when it is submitted. */
export class FormValues {
  readonly #form: FormData;

  constructor(form: FormData) {
    this.#form = form;
  }

  /** Without white space around it; empty without such a field. */
  text(name: string): string {
    const value = this.#form.get(name);
    return typeof value === 'string' ? value.trim() : '';
  }

  /** Null for an empty field. */
  textOrNull(name: string): string | null {
    const text = this.text(name);
    return text === '' ? null : text;
  }

  /** Undefined for an empty field: the server keeps its value or takes its default. */
  number(name: string): number | undefined {
    const text = this.text(name);
    return text === '' ? undefined : Number(text);
  }

  /** The items of a text, separated by commas, white space or lines. */
  list(name: string): string[] {
    return this.text(name)
      .split(/[\s,]+/)
      .filter((item) => item !== '');
  }

  isChecked(name: string): boolean {
    return this.#form.get(name) !== null;
  }

  /** One of the choices, or undefined. */
  choice<C extends string>(name: string, choices: readonly C[]): C | undefined {
    const text = this.text(name);
    return choices.find((each) => each === text);
  }
}

/** An object without its undefined members: the API refuses them. */
export type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };
export const given = <T extends object>(values: T): Given<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
