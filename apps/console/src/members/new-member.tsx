import { type JSX, useEffect, useId, useRef, useState } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { ChoiceField, TextField } from '../ui/filters.js';
import { Failure } from '../ui/states.js';

type Draft = Schemas['MemberDraft'];

const ROLES = [
  ['viewer', 'Viewer: reads, with phones masked'],
  ['support', 'Support: reads people’s data'],
  ['operator', 'Operator: changes carriers and routes'],
  ['owner', 'Owner: everything'],
] as const;

const isRole = (value: unknown): value is Draft['role'] => ROLES.some(([role]) => role === value);

function draftOf(form: FormData): Draft {
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  const role = form.get('role');
  return {
    name: text('name'),
    role: isRole(role) ? role : 'viewer',
    ...(text('email') === '' ? {} : { email: text('email') }),
    ...(text('phone') === '' ? {} : { phone: text('phone') }),
  };
}

/** A button with a form for a member of the installation. */
export function NewMember(): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="solid" onPress={() => setOpen(true)}>
        Add a member
      </Button>
      {isOpen && <Form onClose={() => setOpen(false)} />}
    </>
  );
}

function Form({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const { mutate, error, isPending } = useAct({
    run: (draft: Draft) => dataOf(api.POST('/v1/admin/members', { body: draft })),
    done: ({ name, role }) => {
      onClose();
      return `${name} is a member, with the role ${role}.`;
    },
    changes: ['members'],
  });
  const submit = (event: React.SyntheticEvent<HTMLFormElement>): void => {
    event.preventDefault();
    mutate(draftOf(new FormData(event.currentTarget)));
  };
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={titleId}>Add a member of the installation</h2>
        <TextField name="name" label="Name" value={undefined} placeholder="Ann Lee" />
        <ChoiceField name="role" label="Role" value="viewer" choices={ROLES} />
        <TextField
          name="email"
          label="Email, as the OpenID provider has it"
          value={undefined}
          placeholder="ann@example.com"
        />
        <TextField name="phone" label="Phone" value={undefined} placeholder="+14155552671" />
        {error !== null && <Failure error={error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="solid" isDisabled={isPending}>
            Add
          </Button>
        </div>
      </form>
    </dialog>
  );
}
