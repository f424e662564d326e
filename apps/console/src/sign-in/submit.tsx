import type { JSX } from 'react';
import { useFormStatus } from 'react-dom';
import { Button } from '../ui/button.js';

interface SubmitProps {
  readonly text: string;
  readonly pendingText: string;
}

export function Submit({ text, pendingText }: SubmitProps): JSX.Element {
  const { pending } = useFormStatus();
  return (
    <Button type="submit" kind="solid" isDisabled={pending}>
      {pending ? pendingText : text}
    </Button>
  );
}
