import { type JSX, type ReactNode, useId } from 'react';

interface FieldProps {
  readonly name: string;
  readonly label: string;
  /** Below the field. */
  readonly hint?: ReactNode;
  readonly isRequired?: boolean;
}

interface InputProps extends FieldProps {
  readonly value?: string | number | null | undefined;
  readonly placeholder?: string;
  readonly type?: 'text' | 'number' | 'password';
  readonly min?: number;
  readonly max?: number;
}

/** A text or a number of a form. */
export function InputField(props: InputProps): JSX.Element {
  const { name, label, hint, value, placeholder, type = 'text', isRequired = false, min, max } = props;
  const hintId = useId();
  return (
    <label className="field">
      <span>{label}</span>
      <input
        name={name}
        type={type}
        defaultValue={value ?? ''}
        placeholder={placeholder}
        required={isRequired}
        min={min}
        max={max}
        spellCheck={false}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        aria-describedby={hint === undefined ? undefined : hintId}
      />
      {hint !== undefined && <Hint id={hintId}>{hint}</Hint>}
    </label>
  );
}

const Hint = ({ id, children }: { readonly id: string; readonly children: ReactNode }): JSX.Element => (
  <small className="soft" id={id}>
    {children}
  </small>
);

interface SelectProps extends FieldProps {
  readonly value?: string | undefined;
  readonly choices: readonly (readonly [value: string, name: string])[];
}

export function SelectField({ name, label, hint, value, choices, isRequired = false }: SelectProps): JSX.Element {
  const hintId = useId();
  return (
    <label className="field">
      <span>{label}</span>
      <select
        name={name}
        defaultValue={value}
        required={isRequired}
        aria-describedby={hint === undefined ? undefined : hintId}
      >
        {choices.map(([each, shown]) => (
          <option key={each} value={each}>
            {shown}
          </option>
        ))}
      </select>
      {hint !== undefined && <Hint id={hintId}>{hint}</Hint>}
    </label>
  );
}

interface CheckProps extends Pick<FieldProps, 'name' | 'label' | 'hint'> {
  readonly isChecked: boolean;
}

export function CheckField({ name, label, hint, isChecked }: CheckProps): JSX.Element {
  const hintId = useId();
  return (
    <div className="check-field">
      <label>
        <input
          type="checkbox"
          name={name}
          defaultChecked={isChecked}
          aria-describedby={hint === undefined ? undefined : hintId}
        />
        {label}
      </label>
      {hint !== undefined && <Hint id={hintId}>{hint}</Hint>}
    </div>
  );
}

/** Fields side by side where there is space. */
export const FieldRow = ({ children }: { readonly children: ReactNode }): JSX.Element => (
  <div className="field-row">{children}</div>
);
