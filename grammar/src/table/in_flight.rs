//! Registers in flight: those that an instruction reads or writes until a later one has waited for it.
//!
//! Until then no other instruction may read or write them. Source: the pages of `wgmma.mma_async`, `wgmma.fence`,
//! `wgmma.wait_group` and `tcgen05.wait` in the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

/// What is executed beside the instructions after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Flight {
    /// A product of matrices of a warpgroup.
    Product,
    /// A load from tensor memory.
    TensorLoad,
    /// A store to tensor memory.
    TensorStore,
}

/// What an instruction has to do with registers in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InFlight {
    /// Its registers are in flight from it on.
    Begins(Flight),
    /// From it on, registers of what begins later are not to be written any more.
    Fences(Flight),
    /// What began before it ends with it: all of it, unless it has a number, which says how much may be left.
    Waits(Flight),
}
