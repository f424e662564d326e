import type { JSX, ReactNode } from 'react';

interface ButtonProps {
  readonly kind?: 'solid' | 'tonal' | 'danger' | 'plain' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  readonly onPress?: () => void;
  readonly children: ReactNode;
}

export const Button = ({
  kind = 'quiet',
  type = 'button',
  isDisabled = false,
  onPress,
  children,
}: ButtonProps): JSX.Element => (
  <button type={type} className="button" data-kind={kind} disabled={isDisabled} onClick={onPress}>
    {children}
  </button>
);
