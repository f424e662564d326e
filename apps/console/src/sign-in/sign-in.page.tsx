import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { useFormStatus } from 'react-dom';
import { ApiError } from '../api/client.js';
import { meQuery, signInWithKey } from '../api/session.js';
import mark from '../shell/mark.svg';
import { Button } from '../ui/button.js';
import './sign-in.css';

const textOf = (error: unknown): string => {
  if (error instanceof ApiError && error.status === 401)
    return 'This key is not valid here. It may be mistyped, revoked, or not allowed from this address.';
  return error instanceof Error ? error.message : 'The sign-in failed.';
};

/** Signs in with the key of the form, then opens the page that asked for it. */
function useSignIn() {
  const { next = '/' } = useSearch({ from: '/sign-in' });
  const client = useQueryClient();
  const navigate = useNavigate();
  const [fault, setFault] = useState<string | null>(null);
  const send = async (form: FormData): Promise<void> => {
    setFault(null);
    try {
      const key = form.get('key');
      client.setQueryData(meQuery.queryKey, await signInWithKey(typeof key === 'string' ? key.trim() : ''));
      await navigate({ href: next });
    } catch (error) {
      setFault(textOf(error));
    }
  };
  return { fault, send };
}

function Submit(): JSX.Element {
  const { pending } = useFormStatus();
  return (
    <Button type="submit" kind="solid" isDisabled={pending}>
      {pending ? 'Signing in…' : 'Sign in'}
    </Button>
  );
}

export function SignInPage(): JSX.Element {
  const { fault, send } = useSignIn();
  return (
    <main className="sign-in">
      <title>Sign in · Countersign</title>
      <div className="sign-in-card">
        <img src={mark} alt="" />
        <div>
          <h1>Sign in</h1>
          <p className="soft">
            With the admin key that an owner gave you. The browser keeps a session of twelve hours, not the key.
          </p>
        </div>
        <form action={send}>
          <label className="field">
            <span>Admin key</span>
            <input
              name="key"
              type="password"
              autoComplete="off"
              placeholder="csk_admin_…"
              required
              aria-describedby="fault"
            />
          </label>
          <div id="fault" role="alert">
            {fault !== null && (
              <p className="notice" data-tone="bad">
                {fault}
              </p>
            )}
          </div>
          <Submit />
        </form>
        <p className="small soft">
          Running <code>npm start</code>? Open the <code>consoleUrl</code> that it prints: it signs you in without a
          key.
        </p>
      </div>
    </main>
  );
}
