import type { JSX } from 'react';
import { Icon } from '../ui/icons.js';

interface OrderProps {
  /** Such as `+44 over north 1`. */
  readonly name: string;
  /** Among the routes of its prefix. */
  readonly place: number;
  readonly count: number;
  readonly isDisabled: boolean;
  readonly onMove: (place: number) => void;
  /** The route over which the pointer is, while it drags; null at the end. */
  readonly onOver: (id: string | null) => void;
  readonly onDrop: (id: string) => void;
}

const keyUnder = ({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }): string | undefined => {
  const row = document.elementFromPoint(clientX, clientY)?.closest('tr[data-key]');
  return row instanceof HTMLElement ? row.dataset['key'] : undefined;
};

/**
 * Moves a route among those of its prefix: by dragging the handle, by the arrow keys on it, or by the buttons beside
 * it.
 */
export function OrderHandle(props: OrderProps): JSX.Element {
  const { name, place, count, isDisabled, onMove, onOver, onDrop } = props;
  const onKey = (event: React.KeyboardEvent): void => {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    if (step === 0) return;
    event.preventDefault();
    if (!isDisabled && place + step >= 0 && place + step < count) onMove(place + step);
  };
  const onDown = (event: React.PointerEvent<HTMLButtonElement>): void => {
    if (isDisabled || event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const isDragging = ({ currentTarget, pointerId }: React.PointerEvent<HTMLButtonElement>): boolean =>
    currentTarget.hasPointerCapture(pointerId);
  const onUp = (event: React.PointerEvent<HTMLButtonElement>): void => {
    if (!isDragging(event)) return;
    event.currentTarget.releasePointerCapture(event.pointerId);
    const key = keyUnder(event);
    onOver(null);
    if (key !== undefined) onDrop(key);
  };
  return (
    <span className="order">
      <button
        type="button"
        className="order-handle"
        aria-label={`Order of ${name}: place ${String(place + 1)} of ${String(count)}. Arrow keys move it.`}
        title="Drag, or use the arrow keys"
        onKeyDown={onKey}
        onPointerDown={onDown}
        onPointerMove={(event) => {
          if (isDragging(event)) onOver(keyUnder(event) ?? null);
        }}
        onPointerUp={onUp}
        onPointerCancel={() => onOver(null)}
      >
        <Icon name="drag" />
      </button>
      <MoveButton
        icon="up"
        label={`Try ${name} earlier`}
        isDisabled={isDisabled || place === 0}
        onPress={() => onMove(place - 1)}
      />
      <MoveButton
        icon="down"
        label={`Try ${name} later`}
        isDisabled={isDisabled || place === count - 1}
        onPress={() => onMove(place + 1)}
      />
    </span>
  );
}

interface MoveButtonProps {
  readonly icon: 'up' | 'down';
  readonly label: string;
  readonly isDisabled: boolean;
  readonly onPress: () => void;
}

const MoveButton = ({ icon, label, isDisabled, onPress }: MoveButtonProps): JSX.Element => (
  <button type="button" className="order-step" aria-label={label} title={label} disabled={isDisabled} onClick={onPress}>
    <Icon name={icon} />
  </button>
);
