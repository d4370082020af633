import {
  Bell,
  CalendarClock,
  CircleArrowRight,
  CircleCheck,
  CirclePause,
  CircleSlash,
  Clock,
  Cpu,
  FileArchive,
  Gauge,
  Grid3x3,
  Hash,
  History,
  type IconNode,
  Keyboard,
  KeyRound,
  Layers,
  LayoutDashboard,
  ListTodo,
  Menu,
  Network,
  OctagonAlert,
  Package,
  Plus,
  ScrollText,
  Search,
  Send,
  Server,
  ShieldAlert,
  TriangleAlert,
  Users,
  Webhook,
} from 'lucide';
import { h } from 'preact';

const ICONS = {
  alarms: Bell,
  backfills: History,
  block: Hash,
  brand: Package,
  budgets: Gauge,
  changes: ScrollText,
  coverage: Grid3x3,
  files: FileArchive,
  hooks: Webhook,
  jobs: ListTodo,
  keyboard: Keyboard,
  keys: KeyRound,
  menu: Menu,
  network: Network,
  next: CircleArrowRight,
  nodes: Server,
  notifications: Send,
  operators: Users,
  overview: LayoutDashboard,
  plans: Layers,
  plus: Plus,
  quarantine: ShieldAlert,
  schedules: CalendarClock,
  search: Search,
  workers: Cpu,
  good: CircleCheck,
  wait: TriangleAlert,
  bad: OctagonAlert,
  paused: CirclePause,
  off: CircleSlash,
  info: Clock,
} as const satisfies Record<string, IconNode>;

export type IconName = keyof typeof ICONS;

/** A picture beside a word, never alone: readers of the page skip it. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg
    class="icon"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    {(ICONS[name] as IconNode).map(([tag, attributes], index) => h(tag, { ...attributes, key: index }))}
  </svg>
);
