//! Plain addresses: a register or a symbol, and a number that is added to it
//! ([addresses as operands](https://docs.nvidia.com/cuda/parallel-thread-execution/#addresses-as-operands)).

use crate::constant;
use crate::tree::{Module, NodeId, NodeKind};

/// What an address `[name]` or `[name+number]` names, and the number; `None` for other operands.
#[must_use]
pub fn parts(module: &Module<'_>, node: NodeId) -> Option<(NodeId, u64)> {
    let [place] = module.children(node)[..] else { return None };
    let (base, number) = match (module.node_kind(place), &module.children(place)[..]) {
        (NodeKind::Name, _) => (place, 0),
        (NodeKind::Offset, &[base, number]) => (base, constant::value(module, number)?),
        (_, _) => return None,
    };
    let is_plain = module.node_kind(node) == NodeKind::Address && module.node_kind(base) == NodeKind::Name;
    is_plain.then_some((base, number))
}
