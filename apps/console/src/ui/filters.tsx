import type { JSX, ReactNode } from 'react';
import { Button } from './button.js';

/** The filters of a list: applied by Enter or the button, and part of the address. */
export function Filters<K extends string>({
  onApply,
  children,
}: {
  readonly onApply: (values: Partial<Record<K, string>>) => void;
  readonly children: ReactNode;
}): JSX.Element {
  const submit = (event: React.SyntheticEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const values: Record<string, string> = {};
    for (const [name, value] of new FormData(event.currentTarget))
      if (typeof value === 'string' && value.trim() !== '') values[name] = value.trim();
    onApply(values as Partial<Record<K, string>>);
  };
  return (
    <form className="filters" role="search" onSubmit={submit}>
      {children}
      <Button type="submit" kind="tonal">
        Search
      </Button>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
}

/** A new `key` shows the value of a new address. */
export const TextField = ({
  name,
  label,
  value = '',
  placeholder,
}: FieldProps & { readonly placeholder: string }): JSX.Element => (
  <label className="field">
    <span>{label}</span>
    <input
      key={value}
      name={name}
      defaultValue={value}
      placeholder={placeholder}
      spellCheck={false}
      autoComplete="off"
    />
  </label>
);

export const ChoiceField = ({
  name,
  label,
  value = '',
  choices,
}: FieldProps & { readonly choices: readonly (readonly [value: string, name: string])[] }): JSX.Element => (
  <label className="field">
    <span>{label}</span>
    <select key={value} name={name} defaultValue={value}>
      {choices.map(([each, shown]) => (
        <option key={each} value={each}>
          {shown}
        </option>
      ))}
    </select>
  </label>
);
