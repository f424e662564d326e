import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { linkNamesQuery } from '../api/names.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { CheckField, FieldRow, InputField, SelectField } from '../ui/fields.js';
import { FormDialog } from '../ui/form-dialog.js';
import { type FormValues, given } from '../ui/form-values.js';
import { MAX_PRIORITY } from './route-order.js';
import { type Route, updateRoute } from './route-queries.js';

/** A route leads to a bind or to a system. */
const linkOf = (id: string): Pick<Schemas['RouteChange'], 'bindId' | 'smppSystemId'> =>
  id.startsWith('sys_') ? { smppSystemId: id } : { bindId: id };

const settingsOf = (values: FormValues): Schemas['RouteDraft'] =>
  given({
    prefix: values.text('prefix'),
    ...linkOf(values.text('link')),
    priority: values.number('priority'),
    weight: values.number('weight'),
    costUsd: values.text('costUsd') === '' ? undefined : values.text('costUsd'),
    sourceAddress: values.textOrNull('sourceAddress'),
    enabled: values.isChecked('enabled'),
  });

interface FormProps {
  /** Null for a new one. */
  readonly route: Route | null;
  readonly onClose: () => void;
}

function RouteForm({ route, onClose }: FormProps): JSX.Element {
  const { data: names } = useQuery(linkNamesQuery);
  const { mutate, error, isPending } = useAct({
    run: (values: FormValues) => {
      const body = settingsOf(values);
      return route === null ? dataOf(api.POST('/v1/admin/routes', { body })) : updateRoute(route.id, body);
    },
    done: ({ prefix }) => {
      onClose();
      return `The route ${prefix} is saved; it takes effect with the next code.`;
    },
    changes: ['routes'],
  });
  if (names === undefined) return <></>;
  return (
    <FormDialog
      title={route === null ? 'Create a route' : `Edit the route ${route.prefix}`}
      act={route === null ? 'Create' : 'Save'}
      error={error}
      isPending={isPending}
      onSubmit={mutate}
      onClose={onClose}
    >
      <RouteFields route={route} names={names} />
    </FormDialog>
  );
}

interface FieldsProps extends Pick<FormProps, 'route'> {
  readonly names: ReadonlyMap<string, string>;
}

const RouteFields = ({ route, names }: FieldsProps): JSX.Element => (
  <>
    <FieldRow>
      <InputField
        name="prefix"
        label="Prefix"
        value={route?.prefix}
        placeholder="+44"
        hint="A plus sign alone is every number."
        isRequired
      />
      <SelectField
        name="link"
        label="Bind or system"
        value={route?.bindId ?? route?.smppSystemId}
        choices={[...names].map(([id, name]) => [id, id.startsWith('sys_') ? `${name} (system)` : name])}
        isRequired
      />
    </FieldRow>
    <FieldRow>
      <InputField
        name="priority"
        label="Priority"
        type="number"
        min={0}
        max={MAX_PRIORITY}
        value={route?.priority ?? 0}
        hint="The lowest is tried first."
      />
      <InputField
        name="weight"
        label="Weight"
        type="number"
        min={1}
        max={1_000_000}
        value={route?.weight ?? 1}
        hint="The share among equal priorities."
      />
      <InputField name="costUsd" label="Cost in US dollars" value={route?.costUsd} placeholder="0.0079" />
    </FieldRow>
    <InputField
      name="sourceAddress"
      label="Sender"
      value={route?.sourceAddress}
      placeholder="ACME"
      hint="Empty: the sender of the brand."
    />
    <CheckField name="enabled" label="Enabled" isChecked={route?.enabled ?? true} />
  </>
);

/** A button with the form of a route. */
export function EditRoute({ route }: { readonly route: Route | null }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind={route === null ? 'solid' : 'quiet'} onPress={() => setOpen(true)}>
        {route === null ? 'Create a route' : 'Edit'}
        {route !== null && <span className="visually-hidden"> the route {route.prefix}</span>}
      </Button>
      {isOpen && <RouteForm route={route} onClose={() => setOpen(false)} />}
    </>
  );
}
